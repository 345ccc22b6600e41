// `make mutation`: changes the code a little, one place at a time, and runs the tests nearest to the change. A change that
// no test notices has survived: a test is missing, or known.json says why none can exist.
// Usage: tools/mutation/main.ts [--folder NAME] [--seed N] [--sample N] [--again]. Reports stay in .plosive/mutation; --again
// tries only the survivors of the last report.
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheDir, repoDir } from "../cache.ts";
import { dependentsOf, repositoryFiles } from "../testing/imports.ts";
import { type Folder, folders, worker } from "./folders.ts";
import { makeMutants, nameOf, sampleOf } from "./mutants.ts";
import { scoreOf } from "./score.ts";
import { hashOf, judge, type Survey, surveyTests, type Verdict } from "./survey.ts";
import { TestCopy } from "./test-copy.ts";

const { values } = parseArgs({
  options: {
    folder: { type: "string", default: "" },
    seed: { type: "string", default: "1" },
    sample: { type: "string" },
    again: { type: "boolean", default: false },
  },
});
const say = (text: string) => void process.stdout.write(`${text}\n`);
/** Test processes at the same time: the smallest machine has two cores. */
const atOnce = 2;
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

type Row = Verdict & { file: string; line: number; code: string; change: string; nth: number };
interface Report {
  /** Of the folder's files: with others the numbers of mutants differ. */
  readonly hash: string;
  readonly survey: Survey;
  readonly rows: ReadonlyMap<string, Row>;
}
type Known = { file: string; code: string; change: string; reason: string };
const known = new Set(
  (JSON.parse(readFileSync(join(import.meta.dirname, "known.json"), "utf8")) as Known[]).map(nameOf),
);
const keyOf = (one: { file: string; code: string; change: string; nth: number }) =>
  `${nameOf(one)}\n${one.nth}`;
const reports = join(repoDir, ".plosive/mutation");
mkdirSync(reports, { recursive: true });

const names = [...folders.map(({ name }) => name), worker.name];
if (values.folder !== "" && !names.includes(values.folder))
  throw new Error(`--folder ${values.folder} is not measured. The folders are ${names.join(", ")}.`);
const isWanted = ({ name }: { name: string }) => values.folder === "" || name === values.folder;
for (const folder of folders.filter(isWanted)) await measure(folder);
if (isWanted(worker)) measureWorker();

async function measure(folder: Folder): Promise<void> {
  const began = Date.now();
  const files = globSync([...folder.files], { cwd: repoDir, exclude: [...folder.without] }).sort();
  const { mutants, instrumented } = await makeMutants(files);
  const hash = hashOf([...instrumented.values()].join(""));
  const last = values.again ? readReport(folder) : undefined;
  const sample = sampleOf(mutants, Number(values.sample ?? folder.sample), Number(values.seed));
  const open = sample.filter((mutant) => !known.has(nameOf(mutant)));
  const rows = new Map<string, Row>();
  for (const mutant of open) {
    const row = last?.rows.get(keyOf(mutant));
    if (row?.state === "killed" || row?.state === "hung") rows.set(keyOf(mutant), row);
  }
  say(`${folder.name}: ${sample.length} of ${mutants.length} mutants, ${open.length - rows.size} to try`);

  const copies = Array.from({ length: atOnce }, () => new TestCopy(folder.projects, instrumented));
  const close = () => {
    for (const copy of copies) copy.close();
  };
  const interrupt = () => {
    close();
    process.exit(130);
  };
  for (const signal of signals) process.once(signal, interrupt);
  try {
    const survey = await surveyTests(folder, copies, last?.hash === hash ? last.survey : new Map());
    const queue = open.filter((mutant) => !rows.has(keyOf(mutant)));
    const dependents = dependentsOf(repositoryFiles());
    const work = async (copy: TestCopy) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const verdict = await judge(copy, mutant, folder, survey, dependents);
        const { file, line, code, change, nth } = mutant;
        rows.set(keyOf(mutant), { file, line, code, change, nth, ...verdict });
        // After each one: an interrupted run can resume with --again.
        writeReport(folder, { hash, survey, rows });
        say(
          `${rows.size}/${open.length} ${verdict.state} ${file}:${line} ${change} ${verdict.by ?? ""}`.trimEnd(),
        );
      }
    };
    await Promise.all(copies.map(work));
  } finally {
    close();
    for (const signal of signals) process.off(signal, interrupt);
  }
  tell(folder.name, sample.length, [...rows.values()], Date.now() - began);
}

/** The worker's folder: worker.py does the same with Python. */
function measureWorker(): void {
  const began = Date.now();
  const path = join(reports, `worker-${values.seed}.json`);
  const options = ["--seed", values.seed, "--sample", values.sample ?? String(worker.sample), "--out", path];
  if (values.again) options.push("--again");
  execFileSync(join(cacheDir, "venv/bin/python"), [join(import.meta.dirname, "worker.py"), ...options], {
    stdio: "inherit",
  });
  const { sample, verdicts } = JSON.parse(readFileSync(path, "utf8")) as { sample: number; verdicts: Row[] };
  tell(worker.name, sample, verdicts, Date.now() - began);
}

function tell(folder: string, sample: number, rows: readonly Row[], ms: number): void {
  const alive = rows.filter(({ state }) => state === "survived" || state === "not reached");
  for (const { file, line, state, code, change } of alive)
    say(`\n${file}:${line} ${state}\n  ${code}\n  ${change}`);
  const unclear = rows.filter(({ state }) => state === "unclear").length;
  const killed = rows.length - alive.length - unclear;
  say(
    `\n${folder}: ${sample} mutants, ${sample - rows.length} explained, ${killed} killed, ${alive.length} survived, ` +
      `${unclear} unclear: ${scoreOf(killed, killed + alive.length)} (${(ms / 60_000).toFixed(0)} min)`,
  );
}

function pathOf(folder: Folder): string {
  return join(reports, `${folder.name.replaceAll("/", "-")}-${values.seed}.json`);
}

function writeReport(folder: Folder, { hash, survey, rows }: Report): void {
  writeFileSync(pathOf(folder), JSON.stringify({ hash, survey: [...survey], rows: [...rows] }));
}

function readReport(folder: Folder): Report {
  try {
    const { hash, survey, rows } = JSON.parse(readFileSync(pathOf(folder), "utf8"));
    return { hash, survey: new Map(survey), rows: new Map(rows) };
  } catch (error) {
    throw new Error(`There is no report of ${folder.name} to resume from. Run it without --again first.`, {
      cause: error,
    });
  }
}
