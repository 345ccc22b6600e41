// `make compat`: the tests against other versions of Postgres, Kubernetes and the object store than those of `make test`.
// Usage: tools/compat.ts [--only NAME]... Exit code 0 only when nothing failed.
import { parseArgs } from "node:util";
import { debianVersion } from "./postgres.ts";
import { compat } from "./testing/compat.ts";
import { pick, playSuites } from "./testing/play.ts";
import { commitSeed } from "./testing/seed.ts";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true, default: [] } } });
// `make test` runs on Debian's Postgres already.
const isCovered = (name: string) => values.only.length === 0 && name === `postgres-${debianVersion()}`;
const chosen = pick(compat, values.only).filter(({ name }) => !isCovered(name));
const seed = Number(process.env.PLOSIVE_TEST_SEED ?? commitSeed());
const minutes = chosen.reduce((sum, suite) => sum + suite.minutes, 0);
process.stdout.write(`compat: ${chosen.length} suites, about ${minutes} minutes on two cores\n`);
await playSuites(chosen, { lanes: [["compat"]], folder: "compat", seed });
