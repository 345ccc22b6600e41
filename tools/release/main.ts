// The command line of releases: node tools/release/main.ts build --registry REGISTRY --key KEY [--out FOLDER]
// [--architectures amd64,arm64] | push --key KEY [--out FOLDER] [--plain-http]. Called by the Makefile and the release workflow;
// docs/releases.md.
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { repoDir } from "../cache.ts";
import { ownArchitecture, parseArchitecture } from "../images/architecture.ts";
import { buildRelease } from "./build.ts";
import { checkKey } from "./programs.ts";
import { pushRelease } from "./push.ts";
import { releaseSource } from "./source.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string", default: join(repoDir, ".plosive/release") },
    registry: { type: "string" },
    key: { type: "string" },
    architectures: { type: "string", default: ownArchitecture() },
    "plain-http": { type: "boolean", default: false },
  },
});
const { registry, key } = values;
const out = resolve(values.out);
const say = (line: string) => console.log(line);

try {
  if (key === undefined)
    throw new Error(
      "KEY (--key) is missing: the file of a private key, which `cosign generate-key-pair` makes",
    );
  await checkKey(key);
  if (positionals[0] === "build") {
    if (registry === undefined || !/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)+$/.test(registry))
      throw new Error(
        "REGISTRY (--registry) is missing or no registry: give host and path, such as ghcr.io/you/plosive",
      );
    const architectures = values.architectures.split(/[\s,]+/).map(parseArchitecture);
    // The trainer is built for no other.
    if (!architectures.includes(ownArchitecture()))
      throw new Error(
        `ARCHITECTURES (--architectures) lacks ${ownArchitecture()}, that of this machine: add it`,
      );
    await buildRelease({ source: releaseSource(), out, registry, key, architectures, say });
  } else if (positionals[0] === "push") {
    await pushRelease({ folder: out, key, plainHttp: values["plain-http"], say });
  } else {
    console.error(
      "usage: main.ts build --registry REGISTRY --key KEY [--out FOLDER] | push --key KEY [--out FOLDER] [--plain-http]",
    );
    process.exitCode = 2;
  }
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
