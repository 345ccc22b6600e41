// `make trials`: the long random and fault trials in full, with a new seed. PLOSIVE_TEST_SEED repeats a run.
// Usage: tools/trials.ts [--only NAME]... Exit code 0 only when nothing failed.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { pick, runSuites } from "./testing/run-suites.ts";
import { trials } from "./testing/trials.ts";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true, default: [] } } });
const chosen = pick(trials, values.only);
const seed = Number(process.env.PLOSIVE_TEST_SEED ?? randomInt(2 ** 31));
const minutes = chosen.reduce((sum, trial) => sum + trial.minutes, 0);
process.stdout.write(
  `trials: ${chosen.length} trials, about ${minutes} minutes on two cores; PLOSIVE_TEST_SEED=${seed}\n`,
);
const env = { PLOSIVE_TRIALS: "full" };
await runSuites(chosen, { lanes: [["trials"]], folder: "trials", seed, env });
