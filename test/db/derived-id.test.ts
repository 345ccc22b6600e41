// Ids that follow from a text, so that an interrupted step can be repeated.
import { expect, it } from "vitest";
import { derivedId } from "../../src/db/driver/id.ts";
import { uuid } from "../../src/schemas/primitives.ts";

it("a derived id is a UUID, the same for the same text and another one for each other text", () => {
  const ids = Array.from({ length: 1_000 }, (_, n) => derivedId(`text ${n}`));
  for (const id of ids) expect(uuid.parse(id)).toBe(id);
  expect(new Set(ids).size).toBe(1_000);
  expect(derivedId("text 7")).toBe(ids[7]);
});
