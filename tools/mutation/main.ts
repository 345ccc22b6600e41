// `make mutation`: changes the code a little, one place at a time, and runs the tests nearest to the change. A change that
// no test notices has survived: a test is missing, or known.json says why none can exist.
// Usage: tools/mutation/main.ts [--room NAME] [--seed N] [--sample N] [--only PATTERN]. Reports stay in .plosive/mutation.
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repoDir } from "../cache.ts";
import { dependentsOf, repositoryFiles } from "../testing/imports.ts";
import { fitInto, rankTests } from "../testing/related.ts";
import { type Mutant, makeMutants, nameOf, sampleOf } from "./mutants.ts";
import { Player } from "./player.ts";
import { type Room, rooms } from "./rooms.ts";
import type { Answer } from "./runner.ts";
import { scoreOf } from "./score.ts";

const { values } = parseArgs({
  options: {
    room: { type: "string", default: "" },
    seed: { type: "string", default: "1" },
    sample: { type: "string" },
    only: { type: "string", default: "" },
  },
});
const say = (text: string) => void process.stdout.write(`${text}\n`);
/** Test processes at the same time: the smallest machine has two cores. */
const atOnce = 2;

interface Verdict {
  readonly mutant: Mutant;
  readonly state: "killed" | "hung" | "survived" | "not reached";
  readonly by?: string;
}
type Known = { file: string; code: string; change: string; reason: string };
const known = new Map(
  (JSON.parse(readFileSync(join(import.meta.dirname, "known.json"), "utf8")) as Known[]).map((one) => [
    nameOf(one),
    one.reason,
  ]),
);

const chosen = rooms.filter(({ name }) => values.room === "" || name === values.room);
if (chosen.length === 0)
  throw new Error(`There is no room ${values.room}: ${rooms.map((r) => r.name).join(", ")}`);
for (const room of chosen) await measure(room);

async function measure(room: Room): Promise<void> {
  const began = Date.now();
  const files = globSync([...room.files], { cwd: repoDir }).sort();
  const { mutants, instrumented } = await makeMutants(files);
  const wanted = Math.min(mutants.length, Number(values.sample ?? room.sample));
  const sample = sampleOf(mutants, wanted, Number(values.seed)).filter(
    ({ file, line }) => values.only === "" || `${file}:${line}`.includes(values.only),
  );
  const open = sample.filter((mutant) => !known.has(nameOf(mutant)));
  say(
    `${room.name}: ${sample.length} of ${mutants.length} mutants, ${sample.length - open.length} of them explained`,
  );

  const players = Array.from({ length: atOnce }, () => new Player(room.project, instrumented));
  try {
    const survey = await surveyTests(room, players);
    const verdicts: Verdict[] = [];
    const queue = [...open];
    const dependents = dependentsOf(repositoryFiles());
    const work = async (player: Player) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const verdict = await judge(player, mutant, room, survey, dependents);
        verdicts.push(verdict);
        const { file, line, change } = mutant;
        say(
          `${verdicts.length}/${open.length} ${verdict.state} ${file}:${line} ${change}${verdict.by ? ` (${verdict.by})` : ""}`,
        );
      }
    };
    await Promise.all(players.map(work));
    report(room, sample, verdicts, (Date.now() - began) / 60_000);
  } finally {
    for (const player of players) player.close();
  }
}

/** The mutants that each test file reaches and how long it takes, with no mutant switched on. */
type Survey = ReadonlyMap<string, Answer>;

async function surveyTests(room: Room, players: readonly Player[]): Promise<Survey> {
  const queue = globSync([...room.tests], { cwd: repoDir }).sort();
  const found = new Map<string, Answer>();
  const work = async (player: Player) => {
    for (let test = queue.shift(); test !== undefined; test = queue.shift()) {
      const [answer] = (await player.play({ active: "", tests: [test], survey: true }, 600)) ?? [];
      // Files of other projects have no answer.
      if (answer === undefined || answer.reached.length === 0) continue;
      if (answer.failed) say(`left out: ${test} fails without a mutant: ${answer.errors[0]}`);
      else found.set(test, answer);
    }
  };
  await Promise.all(players.map(work));
  say(`${room.name}: ${found.size} test files reach it`);
  return found;
}

async function judge(
  player: Player,
  mutant: Mutant,
  room: Room,
  survey: Survey,
  dependents: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Verdict> {
  const reaching = [...survey.keys()].filter(
    (test) => mutant.id === undefined || survey.get(test)?.reached.includes(mutant.id),
  );
  const seconds = Object.fromEntries([...survey].map(([test, answer]) => [test, answer.seconds]));
  const { chosen: tests } = fitInto(
    room.budgetSeconds,
    rankTests([mutant.file], reaching, dependents, seconds),
  );
  if (tests.length === 0) return { mutant, state: "not reached" };
  const order = {
    active: mutant.text === undefined ? (mutant.id ?? "") : "",
    tests: tests.map(({ file }) => file),
    survey: false,
    ...(mutant.text === undefined ? {} : { replace: { file: mutant.file, text: mutant.text } }),
  };
  const limit = 60 + 10 * tests.reduce((sum, one) => sum + one.seconds, 0);
  const answers = await player.play(order, limit);
  if (answers === undefined) return { mutant, state: "hung" };
  const failed = answers.find((answer) => answer.failed);
  if (failed === undefined) return { mutant, state: "survived" };
  // A test with servers can fail on a busy machine: only one that fails twice has noticed the mutant.
  if (room.project === "real") {
    const again = await player.play({ ...order, tests: [failed.test] }, limit);
    if (again?.[0]?.failed === false) return { mutant, state: "survived" };
  }
  return { mutant, state: "killed", by: failed.test };
}

function report(room: Room, sample: readonly Mutant[], verdicts: readonly Verdict[], minutes: number): void {
  const alive = verdicts.filter(({ state }) => state === "survived" || state === "not reached");
  for (const { mutant, state } of alive)
    say(`\n${mutant.file}:${mutant.line} ${state}\n  ${mutant.code}\n  ${mutant.change}`);
  const score = scoreOf(verdicts.length - alive.length, verdicts.length);
  say(
    `\n${room.name}: ${sample.length} mutants, ${sample.length - verdicts.length} explained, ` +
      `${verdicts.length - alive.length} killed, ${alive.length} survived: ${score} (${minutes.toFixed(0)} min)`,
  );
  const folder = join(repoDir, ".plosive/mutation");
  mkdirSync(folder, { recursive: true });
  const rows = verdicts.map(({ mutant: { file, line, code, change }, state, by }) => ({
    file,
    line,
    code,
    change,
    state,
    by,
  }));
  writeFileSync(
    join(folder, `${room.name.replaceAll("/", "-")}-${values.seed}.json`),
    JSON.stringify(rows, null, 1),
  );
}
