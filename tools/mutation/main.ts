// `make mutation`: changes the code a little, one place at a time, and runs the tests nearest to the change. A change that
// no test notices has survived: a test is missing, or known.json says why none can exist.
// Usage: tools/mutation/main.ts [--room NAME] [--seed N] [--sample N] [--again]. Reports stay in .plosive/mutation; --again
// tries only the survivors of the last report.
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheDir, repoDir } from "../cache.ts";
import { dependentsOf, repositoryFiles } from "../testing/imports.ts";
import { makeMutants, nameOf, sampleOf } from "./mutants.ts";
import { Player } from "./player.ts";
import { type Room, rooms, worker } from "./rooms.ts";
import { scoreOf } from "./score.ts";
import { hashOf, judge, type Survey, surveyTests, type Verdict } from "./survey.ts";

const { values } = parseArgs({
  options: {
    room: { type: "string", default: "" },
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
  /** Of the room's files: with others the numbers of mutants differ. */
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
const folder = join(repoDir, ".plosive/mutation");
mkdirSync(folder, { recursive: true });

const names = [...rooms.map(({ name }) => name), worker.name];
if (values.room !== "" && !names.includes(values.room))
  throw new Error(`There is no room ${values.room}. The rooms are ${names.join(", ")}.`);
const isWanted = ({ name }: { name: string }) => values.room === "" || name === values.room;
for (const room of rooms.filter(isWanted)) await measure(room);
if (isWanted(worker)) measureWorker();

async function measure(room: Room): Promise<void> {
  const began = Date.now();
  const files = globSync([...room.files], { cwd: repoDir, exclude: [...room.without] }).sort();
  const { mutants, instrumented } = await makeMutants(files);
  const hash = hashOf([...instrumented.values()].join(""));
  const last = values.again ? readReport(room) : undefined;
  const sample = sampleOf(mutants, Number(values.sample ?? room.sample), Number(values.seed));
  const open = sample.filter((mutant) => !known.has(nameOf(mutant)));
  const rows = new Map<string, Row>();
  for (const mutant of open) {
    const row = last?.rows.get(keyOf(mutant));
    if (row?.state === "killed" || row?.state === "hung") rows.set(keyOf(mutant), row);
  }
  say(`${room.name}: ${sample.length} of ${mutants.length} mutants, ${open.length - rows.size} to try`);

  const players = Array.from({ length: atOnce }, () => new Player(room.project, instrumented));
  const close = () => {
    for (const player of players) player.close();
  };
  const interrupt = () => {
    close();
    process.exit(130);
  };
  for (const signal of signals) process.once(signal, interrupt);
  try {
    const survey = await surveyTests(room, players, last?.hash === hash ? last.survey : new Map());
    const queue = open.filter((mutant) => !rows.has(keyOf(mutant)));
    const dependents = dependentsOf(repositoryFiles());
    const work = async (player: Player) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const verdict = await judge(player, mutant, room, survey, dependents);
        const { file, line, code, change, nth } = mutant;
        rows.set(keyOf(mutant), { file, line, code, change, nth, ...verdict });
        // After each: an interrupted run goes on with --again.
        writeReport(room, { hash, survey, rows });
        say(
          `${rows.size}/${open.length} ${verdict.state} ${file}:${line} ${change} ${verdict.by ?? ""}`.trimEnd(),
        );
      }
    };
    await Promise.all(players.map(work));
  } finally {
    close();
    for (const signal of signals) process.off(signal, interrupt);
  }
  tell(room.name, sample.length, [...rows.values()], Date.now() - began);
}

/** The worker's room: worker.py does the same with Python. */
function measureWorker(): void {
  const began = Date.now();
  const path = join(folder, `worker-${values.seed}.json`);
  const options = ["--seed", values.seed, "--sample", values.sample ?? String(worker.sample), "--out", path];
  if (values.again) options.push("--again");
  execFileSync(join(cacheDir, "venv/bin/python"), [join(import.meta.dirname, "worker.py"), ...options], {
    stdio: "inherit",
  });
  const { sample, verdicts } = JSON.parse(readFileSync(path, "utf8")) as { sample: number; verdicts: Row[] };
  tell(worker.name, sample, verdicts, Date.now() - began);
}

function tell(room: string, sample: number, rows: readonly Row[], ms: number): void {
  const alive = rows.filter(({ state }) => state === "survived" || state === "not reached");
  for (const { file, line, state, code, change } of alive)
    say(`\n${file}:${line} ${state}\n  ${code}\n  ${change}`);
  const unclear = rows.filter(({ state }) => state === "unclear").length;
  const killed = rows.length - alive.length - unclear;
  say(
    `\n${room}: ${sample} mutants, ${sample - rows.length} explained, ${killed} killed, ${alive.length} survived, ` +
      `${unclear} unclear: ${scoreOf(killed, killed + alive.length)} (${(ms / 60_000).toFixed(0)} min)`,
  );
}

function pathOf(room: Room): string {
  return join(folder, `${room.name.replaceAll("/", "-")}-${values.seed}.json`);
}

function writeReport(room: Room, { hash, survey, rows }: Report): void {
  writeFileSync(pathOf(room), JSON.stringify({ hash, survey: [...survey], rows: [...rows] }));
}

function readReport(room: Room): Report {
  try {
    const { hash, survey, rows } = JSON.parse(readFileSync(pathOf(room), "utf8"));
    return { hash, survey: new Map(survey), rows: new Map(rows) };
  } catch (error) {
    throw new Error(`There is no report of ${room.name} to go on from. Run it without --again first.`, {
      cause: error,
    });
  }
}
