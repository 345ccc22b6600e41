// The command line of the local cluster: node tools/cluster/main.ts up|down|status [--name plosive]. Called by the
// Makefile and the e2e test. `up` and `down` hold one lock for all clusters, because cluster numbers are shared.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheDir } from "../cache.ts";
import { down } from "./down.ts";
import { defaultName } from "./place.ts";
import { status } from "./status.ts";
import { up } from "./up.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { name: { type: "string", default: defaultName }, locked: { type: "boolean", default: false } },
});
const [command] = positionals;
const say = (line: string) => console.log(line);

try {
  if (command === "status") {
    const found = await status(values.name);
    say(JSON.stringify(found, null, 2));
    process.exitCode = found.state === "ready" ? 0 : 1;
  } else if (command !== "up" && command !== "down") {
    console.error("usage: node tools/cluster/main.ts up|down|status [--name plosive]");
    process.exitCode = 2;
  } else if (!values.locked) {
    mkdirSync(join(cacheDir, "clusters"), { recursive: true });
    // --close: the cluster's own processes must not inherit the lock.
    const lock = ["--close", "--timeout", "600", join(cacheDir, "clusters", ".lock")];
    const again = [process.execPath, import.meta.filename, command, "--name", values.name, "--locked"];
    process.exitCode = spawnSync("flock", [...lock, ...again], { stdio: "inherit" }).status ?? 1;
  } else if (command === "up") {
    await up(values.name, say);
  } else {
    await down(values.name, say);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
