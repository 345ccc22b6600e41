// The command line of releases: node tools/release/main.ts build --registry REGISTRY --key KEY [--out FOLDER] |
// push --key KEY [--out FOLDER] [--plain-http]. Called by the Makefile and the release workflow; docs/releases.md.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repoDir } from "../cache.ts";
import { buildRelease } from "./build.ts";
import { pushRelease } from "./push.ts";
import { releaseSource } from "./source.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string", default: join(repoDir, ".plosive/release") },
    registry: { type: "string" },
    key: { type: "string" },
    "plain-http": { type: "boolean", default: false },
  },
});
const { out, registry, key } = values;
const say = (line: string) => console.log(line);

try {
  if (key === undefined)
    throw new Error("--key is missing: a private key of cosign, which `cosign generate-key-pair` makes");
  if (positionals[0] === "build") {
    if (registry === undefined || !/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)+$/.test(registry))
      throw new Error(
        "--registry is missing or no registry: give host and path, such as ghcr.io/you/plosive",
      );
    await buildRelease({ source: releaseSource(), out, registry, key, say });
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
