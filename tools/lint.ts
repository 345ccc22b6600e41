// `make lint`: all static checks, also those of the chart, one after the other with their output. Needs no server.
import { spawnSync } from "node:child_process";
import { repoDir } from "./cache.ts";
import { chartChecks, staticChecks } from "./testing/checks.ts";

const failed: string[] = [];
for (const { name, argv } of [...staticChecks(), ...chartChecks()]) {
  const [program = "", ...args] = argv;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: repoDir,
    encoding: "utf8",
    maxBuffer: 1 << 27,
  });
  process.stdout.write(`${status === 0 ? "  ok  " : "FAILED"} ${name}\n`);
  if (status === 0) continue;
  failed.push(name);
  process.stdout.write(`${error?.message ?? ""}${stdout ?? ""}${stderr ?? ""}\n`);
}
process.stdout.write(
  failed.length === 0 ? "lint: all checks passed\n" : `lint: failed: ${failed.join(", ")}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
