// How request parts become values or faults, where a request over HTTP could not show it.
import { expect, it } from "vitest";
import { z } from "zod";
import { validateParts } from "../../src/api/validate.ts";

it("a document of many faults, of which only one is told, is looked at up to the first", () => {
  let looks = 0;
  const never = z.custom(() => {
    looks += 1;
    return false;
  });
  const schema = z.union([z.object({ items: z.array(never) }), z.array(never)]);
  const value = Array(100_000).fill(0);
  expect(() => validateParts([{ part: "body", schema, value }])).toThrow(
    expect.objectContaining({ items: [expect.objectContaining({ loc: ["body"] })] }),
  );
  expect(looks).toBe(1);
});
