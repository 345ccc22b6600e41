// `make compat`: the tests against other versions of Postgres, Kubernetes and the object store than those of `make test`.
// Usage: tools/compat.ts [--only NAME]... Exit code 0 only when nothing failed.
import { parseArgs } from "node:util";
import { compat, uncovered } from "./testing/compat.ts";
import { pick, runSuites } from "./testing/run-suites.ts";
import { commitSeed } from "./testing/seed.ts";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true, default: [] } } });
const chosen = values.only.length === 0 ? uncovered() : pick(compat, values.only);
const seed = Number(process.env.PLOSIVE_TEST_SEED ?? commitSeed());
const minutes = chosen.reduce((sum, suite) => sum + suite.minutes, 0);
process.stdout.write(`compat: ${chosen.length} suites, about ${minutes} minutes on two cores\n`);
await runSuites(chosen, { lanes: [["compat"]], folder: "compat", seed });
