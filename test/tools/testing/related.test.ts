// The selection of tests by `make check` for a change, and the parser of imports.
import { describe, expect, test } from "vitest";
import { circlesOf, dependentsOf, importsOf, parents } from "../../../tools/testing/imports.ts";
import { fitInto, rankTests } from "../../../tools/testing/related.ts";

const needs = (pairs: Record<string, string[]>) =>
  new Map(Object.entries(pairs).map(([file, dependents]) => [file, new Set(dependents)]));

describe("the ranking of tests", () => {
  const dependents = needs({
    "src/api/routes/webhook.ts": ["src/api/routes/index.ts"],
    "src/api/routes/index.ts": ["src/api/app.ts"],
    "src/api/app.ts": ["test/support/api.ts"],
    "test/support/api.ts": [
      "test/api/usage.test.ts",
      "test/api/webhooks.test.ts",
      "test/hostile/load.test.ts",
    ],
    "controllers/job": ["test/controllers/rooms.test.ts"],
  });
  const tests = ["test/api/usage.test.ts", "test/api/webhooks.test.ts", "test/hostile/load.test.ts"];
  const order = (changed: string[], all = tests) =>
    rankTests(changed, all, dependents, {}).map(({ file }) => file);

  test("puts the test of the same name first, then those of the same room", () => {
    expect(order(["src/api/routes/webhook.ts"])).toEqual([
      "test/api/webhooks.test.ts",
      "test/api/usage.test.ts",
      "test/hostile/load.test.ts",
    ]);
  });

  test("leaves out tests that do not depend on the change", () => {
    expect(order(["src/db/usage.ts"])).toEqual([]);
  });

  test("puts a changed test before all others", () => {
    expect(order(["test/hostile/load.test.ts", "src/api/app.ts"])[0]).toBe("test/hostile/load.test.ts");
  });

  test("includes tests that name a folder of the changed file", () => {
    expect(order(["controllers/job/decide.ts"], ["test/controllers/rooms.test.ts"])).toHaveLength(1);
  });
});

describe("the budget", () => {
  const ranked = [30, 50, 10, 20].map((seconds, rank) => ({ file: `${rank}`, rank, seconds }));
  const names = (budget: number) => fitInto(budget, ranked).chosen.map(({ file }) => file);

  test("is filled in the order of the ranking with the tests that still fit", () => {
    expect(names(60)).toEqual(["0", "2", "3"]);
  });

  test("assigns each test to the chosen or the remaining ones", () => {
    const { chosen, left } = fitInto(60, ranked);
    expect(chosen.length + left.length).toBe(ranked.length);
  });

  test("always has room for the first test, however long it takes", () => {
    expect(names(5)).toEqual(["0"]);
  });
});

describe("imports", () => {
  test("are read from this file", () => {
    expect(importsOf("test/tools/testing/related.test.ts").map(({ target }) => target)).toEqual([
      "vitest",
      "tools/testing/imports.ts",
      "tools/testing/related.ts",
    ]);
  });

  test("include programs and documents that a file names by their path", () => {
    const files = [
      "test/tools/testing/trials.test.ts",
      "CONTRIBUTING.md",
      "tools/testing/trials.ts",
      "docs/client.md",
    ];
    expect(dependentsOf(files).get("tools/testing/trials.ts")).toEqual(new Set([files[0]]));
    expect(parents("test/tools/testing/trials.test.ts")).toEqual(["test/tools", "test/tools/testing"]);
  });

  test("form a cycle when a file imports itself through others", () => {
    const edge = (file: string, target: string) => ({ file, target, isPackage: false });
    const chain = [edge("a", "b"), edge("b", "c"), edge("c", "d"), edge("a", "d")];
    expect(circlesOf(chain)).toEqual([]);
    expect(circlesOf([...chain, edge("c", "a")])).toEqual([["a", "b", "c"]]);
  });
});
