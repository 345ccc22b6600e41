// `make up`: cluster, images, chart, ready service. CLUSTER=local (default: without Docker), kind or current.
// Usage: tools/up.ts [--name CLUSTER] [--namespace plosive] [--down]. Called by the Makefile and the e2e test.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repoDir } from "./cache.ts";
import { install, kubectl, uninstall } from "./chart.ts";
import { defaultName, findPlace } from "./cluster/place.ts";
import { deliver, tidy } from "./images/deliver.ts";
import { chartImages } from "./images/images.ts";
import { kindDown, kindUp } from "./kind.ts";

const { values } = parseArgs({
  options: {
    name: { type: "string", default: defaultName },
    namespace: { type: "string", default: "plosive" },
    down: { type: "boolean", default: false },
  },
});
const cluster = process.env.CLUSTER ?? "local";
const localValues = join(repoDir, "charts/plosive/values-local.yaml");
const objectStorePort = 30900;
const say = (line: string) => console.log(line);
const { name, namespace } = values;

const kinds: Record<string, { up: () => Promise<void>; down: () => Promise<void> } | undefined> = {
  local: {
    up: upLocal,
    down: () => runProgram(process.execPath, "tools/cluster/main.ts", "down", "--name", name),
  },
  kind: { up: upKind, down: () => kindDown(name) },
  current: { up: upCurrent, down: () => uninstall({ namespace }) },
};

try {
  const kind = kinds[cluster];
  if (kind === undefined) throw new Error(`CLUSTER=${cluster} is unknown: use local, kind or current`);
  const started = Date.now();
  await (values.down ? kind.down() : kind.up());
  if (!values.down)
    say(
      `Plosive is ready after ${((Date.now() - started) / 1000).toFixed(0)} s. ${
        cluster === "current"
          ? "Forward a port to the service plosive-api; then `CLUSTER=current PLOSIVE_BASE_URL=http://127.0.0.1:PORT make -s demo-info` prints its address and key."
          : "`make -s demo-info` prints its address and key."
      }`,
    );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function upLocal(): Promise<void> {
  // versitygw first, because an image contains it. Then compiling and image builds run concurrently: the CPU limits the
  // first, downloads and the disk limit the second.
  await runProgram("bash", "tools/build.sh", "versitygw");
  const startCluster = async () => {
    await runProgram("bash", "tools/build.sh");
    await runProgram(process.execPath, "tools/cluster/main.ts", "up", "--name", name);
  };
  const folder = mkdtempSync(join(tmpdir(), "plosive-up-"));
  const file = join(folder, "references.json");
  const buildImages = runProgram(process.execPath, "tools/images/main.ts", "build", "--references", file);
  await Promise.all([startCluster(), buildImages]);
  const { pause, ...images } = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  rmSync(folder, { recursive: true, force: true });

  const place = findPlace(name);
  if (place === undefined) throw new Error(`cluster ${name} was removed while the images were being built`);
  const { worker, trainer, ...service } = images;
  const given = (...references: (string | undefined)[]) => references.filter((one) => one !== undefined);
  await deliver(place, given(pause, ...Object.values(service)), say);
  // The service starts while the large worker images are still being delivered: no job can exist yet that needs them.
  await Promise.all([
    install({
      kubeconfig: place.kubeconfig,
      namespace,
      images,
      valueFiles: [localValues],
      values: { "objectStore.publicEndpoint": `http://${place.addresses.insideAddress}:${objectStorePort}` },
    }),
    deliver(place, given(worker, trainer), say),
  ]);
  await tidy(place, given(pause, ...Object.values(images)));
}

async function upKind(): Promise<void> {
  const images = await kindUp(name, say);
  const target = { namespace };
  const jsonpath = 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}';
  const address = kubectl(target, ["get", "nodes", "-o", jsonpath]).trim();
  const values = { "objectStore.publicEndpoint": `http://${address}:${objectStorePort}` };
  await install({ ...target, images, valueFiles: [localValues], values });
}

/**
 * Installs into the current context. The images must be in a registry that the nodes can reach; the user's values
 * configure the rest.
 */
async function upCurrent(): Promise<void> {
  const { IMAGE_REGISTRY, IMAGE_TAG, VALUES } = process.env;
  if (IMAGE_REGISTRY === undefined || IMAGE_TAG === undefined) {
    throw new Error(
      "CLUSTER=current needs IMAGE_REGISTRY and IMAGE_TAG (images are $IMAGE_REGISTRY/plosive-server:$IMAGE_TAG and so on), and optionally VALUES=<file> with the settings of your cluster; see docs/install.md",
    );
  }
  const images = Object.keys(chartImages).map((key) => [
    key,
    `${IMAGE_REGISTRY}/plosive-${key}:${IMAGE_TAG}`,
  ]);
  await install({
    namespace,
    images: Object.fromEntries(images),
    valueFiles: VALUES === undefined ? [] : [VALUES],
    values: {},
  });
}

/** Runs a program and passes its output through; rejects if it fails. */
function runProgram(command: string, ...args: string[]): Promise<void> {
  const child = spawn(command, args, { cwd: repoDir, stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`${args.join(" ")} failed with exit code ${code}`)),
    );
  });
}
