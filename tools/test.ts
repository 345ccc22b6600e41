// `make test`: the fast suites first, then the others in two lanes side by side; its last line counts the tests. The commit
// fixes the random choices. Usage: tools/test.ts [--only NAME]... Exit code 0 only when nothing failed.
import { parseArgs } from "node:util";
import { pick, playSuites } from "./testing/play.ts";
import { commitSeed } from "./testing/seed.ts";
import { lanes, suites } from "./testing/suites.ts";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true, default: [] } } });
const seed = Number(process.env.PLOSIVE_TEST_SEED ?? commitSeed());
await playSuites(pick(suites, values.only), { lanes, folder: "test", seed });
