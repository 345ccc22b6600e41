// The validation of request parts, in cases that a request over HTTP could not show.
import { expect, it } from "vitest";
import { z } from "zod";
import { validatePart } from "../../src/api/validate.ts";

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
