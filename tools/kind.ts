// CLUSTER=kind: creates a kind cluster with images that Docker builds from the same Dockerfiles. Called by tools/up.ts.
// Needs docker and kind on PATH. The cluster becomes the current kubeconfig context.
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { repoDir } from "./cache.ts";
import { chartImages, type Image, referenceOf } from "./images/images.ts";

const run = promisify(execFile);

/**
 * Creates the cluster if it is missing, builds and loads the images, and returns their references by the chart's names.
 */
export async function kindUp(name: string, say: (line: string) => void): Promise<Record<string, string>> {
  const { stdout } = await run("kind", ["get", "clusters"]).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT")
      throw new Error("CLUSTER=kind needs kind and docker on PATH: https://kind.sigs.k8s.io");
    throw error;
  });
  if (!stdout.split("\n").includes(name))
    await show("kind", ["create", "cluster", "--name", name, "--wait", "3m"]);
  else await run("kubectl", ["config", "use-context", `kind-${name}`]);
  const references: Record<string, string> = {};
  for (const [key, image] of Object.entries(chartImages)) {
    const reference = referenceOf(image);
    const isBuilt = await run("docker", ["image", "inspect", reference]).then(
      () => true,
      () => false,
    );
    if (!isBuilt) {
      say(`images: building ${image.name} ...`);
      await dockerBuild(image, reference);
    }
    await show("kind", ["load", "docker-image", "--name", name, reference]);
    references[key] = reference;
  }
  return references;
}

export async function kindDown(name: string): Promise<void> {
  await show("kind", ["delete", "cluster", "--name", name]);
}

/** Builds an image with the official base images, which are the defaults of the Dockerfiles. */
async function dockerBuild(image: Image, reference: string): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), `plosive-context-${image.name}-`));
  try {
    await image.fillContext(context);
    const dockerfile = join(context, ".Dockerfile");
    cpSync(join(repoDir, image.dockerfile), dockerfile);
    const target = image.target ? ["--target", image.target] : [];
    await show("docker", ["build", "--quiet", ...target, "--tag", reference, "--file", dockerfile, context]);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

function show(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args[0]} failed with exit code ${code}`)),
    );
  });
}
