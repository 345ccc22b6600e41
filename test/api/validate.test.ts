// The validation of request parts, in cases that a request over HTTP could not show.
import { expect, it } from "vitest";
import { z } from "zod";
import { routes } from "../../src/api/routes/index.ts";
import { validatePart } from "../../src/api/validate.ts";
import { maxMembers } from "../../src/schemas/primitives.ts";

it("validation stops at the first fault of a document when the answer reports only one", () => {
  let checks = 0;
  const never = z.custom(() => {
    checks += 1;
    return false;
  });
  const schema = z.union([z.object({ items: z.array(never) }), z.array(never)]);
  const value = Array(100_000).fill(0);
  expect(validatePart({ part: "body", schema, value }).items).toEqual([
    expect.objectContaining({ loc: ["body"] }),
  ]);
  expect(checks).toBe(1);
});

it("the answer lists the first hundred faults of any kind, and the number of all", () => {
  const schema = z.array(z.record(z.string(), z.unknown()));
  const items = (value: unknown, suspectJson?: string) =>
    validatePart({ part: "body", schema, value, suspectJson }).items;
  const inexact = `[${Array(5_000).fill('{"a":1e400}').join()}]`;
  for (const found of [
    items(Array(5_000).fill(0)),
    items(Array(5_000).fill({ a: "\0" })),
    items(JSON.parse(inexact), inexact),
  ]) {
    expect(found).toHaveLength(101);
    expect(found[99]!.loc.slice(0, 2)).toEqual(["body", 99]);
    expect(found[100]).toEqual({
      loc: ["body"],
      msg: "Value error, there are 5000 faults; only the first 100 are listed",
      type: "value_error",
    });
  }
  expect(items(Array(100).fill(0))).toHaveLength(100);
});

it("every record and every list of a request has a maximum size, checked before its members are parsed", () => {
  const bounded = { record: 0, array: 0 };
  const visit = (schema: z.ZodType, where: string): void => {
    const def = schema.def as unknown as Record<string, unknown> & { type: string; shape?: object };
    const inner = [def.innerType, def.in, def.out, def.element, def.valueType];
    const members = [...inner, ...((def.options as unknown[]) ?? []), ...Object.values(def.shape ?? {})];
    for (const member of members) if (member instanceof z.ZodType) visit(member, where);
    if (def.type !== "record" && def.type !== "array") return;
    const large = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`\n${i}`, undefined]));
    const { error } = schema.safeParse(def.type === "record" ? large : Array(1_000_001));
    const code = def.type === "record" ? "custom" : "too_big";
    expect(error?.issues, where).toMatchObject([{ code, message: expect.stringMatching(/members|items/) }]);
    bounded[def.type] += 1;
  };
  for (const { path, body, query } of routes) {
    if (body !== undefined) visit(body, `body of ${path}`);
    if (query !== undefined) visit(query, `query of ${path}`);
  }
  expect(bounded.record).toBeGreaterThan(5);
  expect(bounded.array).toBeGreaterThan(10);
});

it("a record with the most members is taken, also if the schema is extended later", () => {
  const schema = z.record(z.string(), z.int()).check(maxMembers(2)).describe("pairs").optional();
  expect(schema.parse({ a: 1, b: 2 })).toEqual({ a: 1, b: 2 });
  expect(schema.safeParse({ a: 1, b: "2", c: "3" }).error?.issues).toMatchObject([{ code: "custom" }]);
  expect(schema.safeParse([1, 2, 3]).error?.issues).toMatchObject([{ code: "invalid_type" }]);
});

it("the members of a record are counted at all depths, with the items of lists", () => {
  const schema = z.record(z.string(), z.unknown()).check(maxMembers(4));
  for (const value of [{ a: { b: { c: { d: 1 } } } }, { a: [1, [2]] }, { a: [{}, {}, {}] }])
    expect(schema.parse(value)).toEqual(value);
  for (const value of [{ a: { b: { c: { d: { e: 1 } } } } }, { a: [1, [2, 3]] }, { a: [{}, {}], b: [{}] }])
    expect(schema.safeParse(value).error?.issues).toEqual([
      { code: "custom", path: [], message: "must have at most 4 members, at all depths together" },
    ]);
});
