// The summary of `make test`: a failure never counts as passed and never disappears.
import { describe, expect, test } from "vitest";
import { add, closingLine, readExit, readJunit, readVitest } from "../../../tools/testing/report.ts";

const vitest = (...files: { status: string; message?: string; tests: string[] }[]) =>
  JSON.stringify({
    testResults: files.map(({ status, message, tests }, i) => ({
      name: `/somewhere/test/api/f${i}.test.ts`,
      status,
      startTime: 1_000,
      endTime: 3_500,
      message,
      assertionResults: tests.map((test, j) => {
        const words = ["AssertionError: expected 1\n  to be 2\n    at f0.test.ts:1:1"];
        return { fullName: `t${j}`, status: test, failureMessages: test === "failed" ? words : [] };
      }),
    })),
  });

describe("the summary of vitest", () => {
  const cases: {
    name: string;
    report: string | undefined;
    code: number | null;
    line: string;
    failed?: string;
  }[] = [
    {
      name: "all passed",
      report: vitest({ status: "passed", tests: ["passed", "passed"] }),
      code: 0,
      line: "2 passed, 0 failed, 0 skipped",
    },
    {
      name: "every other status is skipped",
      report: vitest({ status: "passed", tests: ["passed", "skipped", "pending", "todo"] }),
      code: 0,
      line: "1 passed, 0 failed, 3 skipped",
    },
    {
      name: "one failed",
      report: vitest({ status: "failed", tests: ["passed", "failed"] }),
      code: 1,
      line: "1 passed, 1 failed, 0 skipped",
      failed: "test/api/f0.test.ts: t1\n      AssertionError: expected 1 to be 2",
    },
    {
      name: "a file that cannot be loaded",
      report: vitest(
        { status: "failed", message: "\nno such module", tests: [] },
        { status: "passed", tests: ["passed"] },
      ),
      code: 1,
      line: "1 passed, 1 failed, 0 skipped",
      failed: "test/api/f0.test.ts: no such module",
    },
    {
      name: "a file that was not run because another one failed",
      report: vitest({ status: "failed", message: "", tests: [] }),
      code: 1,
      line: "0 passed, 1 failed, 0 skipped",
      failed: "test/api/f0.test.ts: did not run, or failed outside of its tests",
    },
    {
      name: "an unhandled error after tests that passed",
      report: vitest({ status: "passed", tests: ["passed"] }),
      code: 1,
      line: "1 passed, 1 failed, 0 skipped",
      failed: "the suite itself ended with code 1",
    },
    {
      name: "a crash without a report",
      report: undefined,
      code: null,
      line: "0 passed, 1 failed, 0 skipped",
      failed: "the suite itself was ended by a signal",
    },
    {
      name: "a truncated report",
      report: '{"testRes',
      code: 0,
      line: "0 passed, 1 failed, 0 skipped",
      failed: "the suite ran no test that passed",
    },
    {
      name: "all skipped",
      report: vitest({ status: "passed", tests: ["skipped", "skipped"] }),
      code: 0,
      line: "0 passed, 1 failed, 2 skipped",
      failed: "the suite ran no test that passed",
    },
    {
      name: "no test",
      report: vitest(),
      code: 0,
      line: "0 passed, 1 failed, 0 skipped",
      failed: "the suite ran no test that passed",
    },
  ];
  test.each(cases)("$name", ({ report, code, line, failed }) => {
    const outcome = readVitest(report, code);
    expect(closingLine(outcome)).toBe(line);
    expect(outcome.failed[0]).toBe(failed);
  });

  test("has the duration of each file", () => {
    const { files } = readVitest(vitest({ status: "passed", tests: ["passed"] }), 0);
    expect(files).toEqual([{ name: "test/api/f0.test.ts", seconds: 2.5 }]);
  });
});

describe("the summary of pytest", () => {
  const xml = `<?xml version="1.0"?><testsuites><testsuite tests="4" failures="1" errors="1" skipped="1">
    <testcase classname="worker.test_a" name="test_one[x&gt;1]" time="0.1" />
    <testcase classname="worker.test_a" name="test_two"><failure message="assert 1&#10; == 2">E &lt;testcase&gt;</failure></testcase>
    <testcase classname="worker.test_a" name="test_three"><skipped type="pytest.skip" message="no GPU" /></testcase>
    <testcase classname="worker.test_b" name="test_four"><system-out>x</system-out><error message="fixture"/></testcase>
  </testsuite></testsuites>`;

  test("counts failures and errors as failed, names skipped tests, and counts the rest as passed", () => {
    expect(readJunit(xml, 1)).toEqual({
      passed: 1,
      failed: ["worker.test_a: test_two\n      assert 1 == 2", "worker.test_b: test_four\n      fixture"],
      skipped: ["worker.test_a: test_three"],
      files: [
        { name: "worker/test_a.py", seconds: 0.1 },
        { name: "worker/test_b.py", seconds: 0 },
      ],
    });
  });

  test.each([
    { name: "no report", text: undefined, code: 2 },
    { name: "an empty suite", text: "<testsuites/>", code: 0 },
    { name: "pytest's own code for no tests", text: "<testsuites/>", code: 5 },
  ])("treats $name as a failure", ({ text, code }) => {
    expect(readJunit(text, code).failed).toHaveLength(1);
  });
});

test("the closing line has the totals of all suites", () => {
  const sum = add([
    readExit("lint", 0),
    readExit("types", 2),
    { passed: 40, failed: [], skipped: ["a", "b"] },
  ]);
  expect(closingLine(sum)).toBe("41 passed, 1 failed, 2 skipped");
  expect(sum.failed).toEqual(["types"]);
});
