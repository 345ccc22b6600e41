// The command line of the images: node tools/images/main.ts build [--keep-others] [--references FILE] | deliver [--name
// plosive] Called by the Makefile (make images) and tools/up.ts. `build` holds a lock and runs in its own mount namespace. It writes
// the references of the built images to FILE, because sources may change during the build. PLOSIVE_ARCHITECTURE: architecture.ts.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheDir } from "../cache.ts";
import { defaultName, findPlace } from "../cluster/place.ts";
import { foreignArchitecture } from "./architecture.ts";
import { buildImages, missingImages } from "./build.ts";
import { deliver } from "./deliver.ts";
import { builtImages, referenceOf } from "./images.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: "string", default: defaultName },
    references: { type: "string" },
    "keep-others": { type: "boolean", default: false },
    inside: { type: "boolean", default: false },
  },
});
const [command] = positionals;
const named = builtImages();
const all = Object.values(named);
const say = (line: string) => console.log(line);

try {
  if (command === "deliver") {
    const place = findPlace(values.name);
    if (place === undefined)
      throw new Error(`cluster ${values.name} does not exist: run \`make cluster-up\``);
    await deliver(place, all.map(referenceOf), say);
  } else if (command !== "build") {
    console.error(
      "usage: node tools/images/main.ts build [--keep-others] [--references FILE] | deliver [--name plosive]",
    );
    process.exitCode = 2;
  } else if (missingImages(all).length === 0) {
    writeReferences();
    say("images: all images are up to date");
  } else if (!values.inside) {
    if (process.getuid?.() !== 0)
      throw new Error("building images needs root: use sudo, or CLUSTER=kind with Docker");
    mkdirSync(join(cacheDir, "images"), { recursive: true });
    const lock = ["flock", "--close", "--timeout", "3600", join(cacheDir, "images", ".lock")];
    const newNamespace = ["unshare", "--mount", "--propagation", "private"];
    const [program = "", ...args] = [
      ...lock,
      ...newNamespace,
      process.execPath,
      import.meta.filename,
      "build",
      "--inside",
      ...(values.references === undefined ? [] : ["--references", values.references]),
      ...(values["keep-others"] ? ["--keep-others"] : []),
    ];
    process.exitCode = spawnSync(program, args, { stdio: "inherit" }).status ?? 1;
  } else {
    // This machine's own stay beside foreign ones.
    const keepOthers = values["keep-others"] || foreignArchitecture() !== undefined;
    await buildImages(all, say, { keepOthers });
    writeReferences();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Writes the image references as JSON, by the chart's names and `pause`. */
function writeReferences(): void {
  if (values.references === undefined) return;
  const references = Object.entries(named).map(([key, image]) => [key, referenceOf(image)]);
  writeFileSync(values.references, JSON.stringify(Object.fromEntries(references)));
}
