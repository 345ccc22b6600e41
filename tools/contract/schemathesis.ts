// Runs schemathesis with the whole description against a real API: `make contract` for 10 minutes, the suite `contract`
// of `make test` for a shorter time. Usage: tools/contract/schemathesis.ts [--seconds 600] [--seed N] [-- more
// arguments] Prints the seed; the same seed against the same code gives the same findings.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheDir } from "../cache.ts";
import { knownValues } from "./known-values.ts";
import { type Service, startService } from "./service.ts";

const { values, positionals } = parseArgs({
  options: { seconds: { type: "string", default: "600" }, seed: { type: "string" } },
  allowPositionals: true,
});
const seed = values.seed ?? process.env.PLOSIVE_TEST_SEED ?? String(randomInt(1, 2 ** 31));
const say = (text: string) => process.stdout.write(`${text}\n`);

const folder = mkdtempSync(join(tmpdir(), "plosive-schemathesis-"));
const service = await startService();
try {
  say(`schemathesis: ${values.seconds} s, seed ${seed}, ${service.url}`);
  const exitCode = await run(service);
  say(`schemathesis: seed ${seed}, exit code ${exitCode}`);
  if (exitCode !== 0) say(`schemathesis: last lines of the API's log:\n${service.log()}`);
  process.exitCode = exitCode;
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}

function run({ url, apiKey, worlds, ownKeyId, lastingWorlds }: Service): Promise<number> {
  const config = join(folder, "schemathesis.toml");
  writeFileSync(config, settings() + knownValues(worlds));
  const args = [
    `--config-file=${config}`,
    "run",
    `${url}/openapi.json`,
    `--header=X-API-Key: ${apiKey}`,
    `--seed=${seed}`,
    `--max-time=${values.seconds}`,
    ...positionals,
  ];
  const child = spawn(join(cacheDir, "contract-venv/bin/schemathesis"), args, {
    // schemathesis writes its example database and caches to the working folder.
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: "1",
      // hooks.py reads these.
      CONTRACT_OWN_KEY_ID: ownKeyId,
      CONTRACT_WORLDS: JSON.stringify(worlds),
      CONTRACT_LASTING_WORLDS: String(lastingWorlds),
    },
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** Reads the settings and adds the absolute path of the hooks: a relative path would refer to the working folder. */
function settings(): string {
  const text = readFileSync(join(import.meta.dirname, "schemathesis.toml"), "utf8");
  return `hooks = ${JSON.stringify(join(import.meta.dirname, "hooks.py"))}\n${text}`;
}
