// What a release publishes of the address of its repository.
import { expect, test } from "vitest";
import { publicAddress } from "../../../tools/release/source.ts";

test.each([
  ["https://user:secret@forge.example/you/plosive.git", "https://forge.example/you/plosive.git"],
  ["https://secret@forge.example/you/plosive.git", "https://forge.example/you/plosive.git"],
  ["ssh://git@forge.example:2222/you/plosive.git", "ssh://forge.example:2222/you/plosive.git"],
  ["git@forge.example:you/plosive.git", "https://forge.example/you/plosive.git"],
  ["/home/you/plosive", "unknown"],
  ["file:///home/you/plosive", "unknown"],
  ["", "unknown"],
])("the provenance names %j as %j", (origin, published) => {
  expect(publicAddress(origin)).toBe(published);
});
