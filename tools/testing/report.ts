// Reads what vitest (JSON) and pytest (JUnit XML) leave behind, and adds up. Pure. Called by tools/test.ts.
// If the result is unclear, the suite counts as failed: a crash, a suite without a passed test and a report that cannot be
// read must never look green.
import { z } from "zod";

export interface Outcome {
  readonly passed: number;
  /** Names of failed tests, each with the first line of its message, or another reason why the suite failed. */
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  /** How long each test file took. */
  readonly files?: readonly FileTime[];
}

export interface FileTime {
  /** Path in the repository. */
  readonly name: string;
  readonly seconds: number;
}

const vitestReport = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

/** `text` is undefined when there is no report; `exitCode` is null when the suite was ended by a signal. */
export function readVitest(text: string | undefined, exitCode: number | null): Outcome {
  const report = vitestReport.safeParse(parseJson(text));
  if (!report.success) return settle({ passed: 0, failed: [], skipped: [] }, exitCode);
  const passed: string[] = [];
  const failed: string[] = [];
  const skipped: string[] = [];
  for (const file of report.data.testResults) {
    const before = failed.length;
    for (const { fullName, status, failureMessages } of file.assertionResults) {
      const name = `${shortName(file.name)}: ${fullName}`;
      if (status === "passed") passed.push(name);
      else if (status === "failed") failed.push(withWords(name, failureMessages?.[0]));
      else skipped.push(name);
    }
    // A file that cannot be loaded has no assertions, and a broken afterAll fails a file whose tests all passed.
    if (file.status === "failed" && failed.length === before) {
      const words = beginningOf(file.message) || "did not run, or failed outside of its tests";
      failed.push(`${shortName(file.name)}: ${words}`);
    }
  }
  const files = report.data.testResults.map(({ name, startTime, endTime }) => ({
    name: shortName(name),
    seconds: (endTime - startTime) / 1000,
  }));
  return settle({ passed: passed.length, failed, skipped, files }, exitCode);
}

export function readJunit(text: string | undefined, exitCode: number | null): Outcome {
  const failed: string[] = [];
  const skipped: string[] = [];
  const seconds = new Map<string, number>();
  let passed = 0;
  for (const [, head = "", body = ""] of (text ?? "").matchAll(
    /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const name = `${attribute(head, "classname")}: ${attribute(head, "name")}`;
    const file = fileOf(attribute(head, "classname"));
    seconds.set(file, (seconds.get(file) ?? 0) + Number(attribute(head, "time")));
    const failure = /<(?:failure|error)\b([^>]*)/.exec(body)?.[1];
    if (failure !== undefined) failed.push(withWords(name, attribute(failure, "message")));
    else if (/<skipped\b/.test(body)) skipped.push(name);
    else passed += 1;
  }
  const files = [...seconds].map(([name, time]) => ({ name, seconds: time }));
  return settle({ passed, failed, skipped, files }, exitCode);
}

/** A command that is one check by itself. */
export function readExit(name: string, exitCode: number | null): Outcome {
  return exitCode === 0 ? { passed: 1, failed: [], skipped: [] } : { passed: 0, failed: [name], skipped: [] };
}

/** Makes a suite fail that ended badly without a failed test, or in which no test passed. */
function settle(outcome: Outcome, exitCode: number | null): Outcome {
  const { passed, failed } = outcome;
  if (failed.length > 0) return outcome;
  if (exitCode !== 0) {
    const how = exitCode === null ? "was ended by a signal" : `ended with code ${exitCode}`;
    return { ...outcome, failed: [`the suite itself ${how}`] };
  }
  if (passed === 0) return { ...outcome, failed: ["the suite ran no test that passed"] };
  return outcome;
}

export function add(outcomes: readonly Outcome[]): Outcome {
  return {
    passed: outcomes.reduce((sum, one) => sum + one.passed, 0),
    failed: outcomes.flatMap((one) => one.failed),
    skipped: outcomes.flatMap((one) => one.skipped),
    files: outcomes.flatMap((one) => one.files ?? []),
  };
}

/** The last line of `make test`, read by machines. */
export function closingLine({ passed, failed, skipped }: Outcome): string {
  return `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`;
}

function attribute(head: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(head)?.[1] ?? "";
  const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#10": "\n" };
  return value.replaceAll(/&(lt|gt|quot|apos|amp|#10);/g, (_, entity: string) => entities[entity] ?? "");
}

/** pytest's classname is the module, then the class if there is one: test.worker.test_events.TestBoxes. */
const fileOf = (classname: string) => {
  const parts = classname.split(".");
  const module = parts.findLastIndex((part) => /^(test|check)_/.test(part));
  return `${parts.slice(0, module + 1).join("/")}.py`;
};
const shortName = (path: string) => path.slice(path.lastIndexOf("/test/") + 1);
const withWords = (name: string, text: string | undefined) =>
  [name, beginningOf(text)].filter((part) => part !== "").join("\n      ");

/** What was wrong, without the stack, on one line. */
function beginningOf(text: string | undefined): string {
  const lines = text?.split("\n") ?? [];
  const stack = lines.findIndex((line) => /^\s+at /.test(line));
  const said = lines.slice(0, stack === -1 ? undefined : stack);
  return said.join(" ").replaceAll(/\s+/g, " ").trim().slice(0, 600);
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
