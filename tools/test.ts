// `make test`: the fast suites first, then the others in two lanes side by side; its last line counts the tests. The commit's
// hash is the seed of the random choices. --compat adds one suite of `make compat`, which the hash selects: .ci/run.
// Usage: tools/test.ts [--only NAME]... [--compat]. Exit code 0 only when nothing failed.
import { parseArgs } from "node:util";
import { uncovered } from "./testing/compat.ts";
import { pick, runSuites } from "./testing/run-suites.ts";
import { commitSeed } from "./testing/seed.ts";
import { lanes, suites } from "./testing/suites.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    compat: { type: "boolean", default: false },
  },
});
const seed = Number(process.env.PLOSIVE_TEST_SEED ?? commitSeed());
const rows = uncovered();
const compat = values.compat ? [rows[seed % rows.length]!] : [];
await runSuites([...pick(suites, values.only), ...compat], {
  lanes: [...lanes, ["compat"]],
  folder: "test",
  seed,
});
