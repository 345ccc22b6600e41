// Tests how values go to Postgres and come back, in its text format. Pure, no server.
import { describe, expect, it } from "vitest";
import { parserOf, toParameter } from "../../src/db/driver/values.ts";

describe("a parameter", () => {
  it.each([
    [null, null],
    [undefined, null],
    ["a'b", "a'b"],
    [12.5, "12.5"],
    [false, "false"],
    [[], "{}"],
    [[1, 2.5], "{1,2.5}"],
    [["a", "b c", ""], '{"a","b c",""}'],
    [['"', "\\", "a,b", "{}"], '{"\\"","\\\\","a,b","{}"}'],
    [["a", null, undefined, "b"], '{"a",NULL,NULL,"b"}'],
    [[1, null, 3], "{1,NULL,3}"],
    [[true, false], "{true,false}"],
    [
      [
        [1, 2],
        [3, 4],
      ],
      "{{1,2},{3,4}}",
    ],
    [["a", 1], '{"a",1}'],
    [[Buffer.from([0, 255])], '{"\\\\x00ff"}'],
  ])("%j is sent as %s", (value, text) => {
    expect(toParameter(value)).toBe(text);
  });

  it("of bytes is sent as they are", () => {
    const bytes = Buffer.from([1, 2]);
    expect(toParameter(bytes)).toBe(bytes);
  });
});

describe("a column", () => {
  it.each([
    ["bigint", 20, "9007199254740991", 9007199254740991],
    ["numeric", 1700, "1.5", 1.5],
    ["timestamptz", 1184, "2026-03-29 01:30:00.123+00", Date.UTC(2026, 2, 29, 1, 30, 0, 123)],
    ["timestamptz", 1184, "infinity", Number.POSITIVE_INFINITY],
    ["timestamptz", 1184, "-infinity", Number.NEGATIVE_INFINITY],
    ["bigint[]", 1016, "{1,NULL,3}", [1, null, 3]],
    ["boolean", 16, "t", true],
    ["jsonb", 3802, '{"a":1}', { a: 1 }],
  ])("of type %s is read", (_name, oid, text, value) => {
    expect(parserOf(oid)(text)).toEqual(value);
  });

  it.each([25, 1043, 2950])("with text (OID %d) stays as it is", (oid) => {
    expect(parserOf(oid)("{1}")).toBe("{1}");
  });
});
