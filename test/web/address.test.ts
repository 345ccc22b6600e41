// Addresses of the dashboard: which page they name, and the state of tables in them.
import { describe, expect, it } from "vitest";
import { match } from "../../web/src/app/routes.ts";
import { oneOf, parsePage, parseSort, sorted, toggled, writeSort } from "../../web/src/app/table-state.ts";

const byName = { column: "name", isDescending: false };

describe("a page's address", () => {
  it("matches its pattern as a whole, with or without a slash at the end", () => {
    expect(match("/datasets/:id/upload", "/datasets/7/upload/")).toEqual({ id: "7" });
    expect(match("/datasets/:id", "/datasets")).toBeUndefined();
    expect(match("/datasets", "/datasets/7")).toBeUndefined();
    expect(match("/", "/")).toEqual({});
  });

  it("is not found when its encoding is broken", () => {
    expect(match("/datasets/:id", "/datasets/%E0%A4%A")).toBeUndefined();
    expect(match("/datasets/:id", "/datasets/a%2Fb")).toEqual({ id: "a/b" });
  });
});

describe("the state of a table", () => {
  it.each([
    ["name", byName],
    ["-name", { column: "name", isDescending: true }],
    [null, { column: "created", isDescending: true }],
    ["toString", { column: "created", isDescending: true }],
    ["-", { column: "created", isDescending: true }],
  ])("reads the order %j", (text, expected) => {
    const fallback = { column: "created", isDescending: true };
    const sort = parseSort(text, ["name", "created"], fallback);
    expect(sort).toEqual(expected);
    expect(parseSort(writeSort(sort), ["name", "created"], byName)).toEqual(sort);
  });

  it("turns the order around at the second click, and begins anew at another column", () => {
    expect(toggled(byName, "name")).toEqual({ column: "name", isDescending: true });
    expect(toggled(byName, "size", true)).toEqual({ column: "size", isDescending: true });
  });

  it.each([
    [null, 1],
    ["3", 3],
    ["0", 1],
    ["-1", 1],
    ["1.5", 1],
    ["1e400", 1],
    ["x", 1],
  ])("reads the page %j", (text, expected) => expect(parsePage(text)).toBe(expected));

  it("accepts only values that the page knows", () => {
    expect([oneOf("ready", ["ready"]), oneOf("other", ["ready"]), oneOf(null, ["ready"])]).toEqual([
      "ready",
      undefined,
      undefined,
    ]);
  });

  it("sorts numbers within names, keeps equal rows in place, and puts rows without a value last", () => {
    const rows = [
      { name: "take 10", ms: null },
      { name: "Take 2", ms: 5 },
      { name: "take 1", ms: 5 },
      { name: "take 3", ms: 9 },
    ];
    const names = (list: typeof rows) => list.map(({ name }) => name);
    expect(names(sorted(rows, ({ name }) => name, false))).toEqual(["take 1", "Take 2", "take 3", "take 10"]);
    expect(names(sorted(rows, ({ ms }) => ms, false))).toEqual(["Take 2", "take 1", "take 3", "take 10"]);
    expect(names(sorted(rows, ({ ms }) => ms, true))).toEqual(["take 3", "Take 2", "take 1", "take 10"]);
  });
});
