// Memory for request bodies: how much of it is kept, and for which bodies.
import { expect, it } from "vitest";
import { makeBodyMemory } from "../../src/api/body/memory.ts";

const MiB = 1024 * 1024;
const isShared = ({ buffer }: Buffer) => buffer instanceof SharedArrayBuffer;

it("is used again for two bodies of more than a megabyte at a time, and never shared by two bodies", () => {
  const memory = makeBodyMemory();
  const bodies = [8 * MiB, 2 * MiB, 8 * MiB, MiB].map((bytes) => memory.take(bytes));
  expect(bodies.map((body) => body.length)).toEqual([8 * MiB, 2 * MiB, 8 * MiB, MiB]);
  expect(bodies.map(isShared)).toEqual([true, true, false, false]);
  expect(new Set(bodies.map((body) => body.buffer)).size).toBe(4);
  for (const body of bodies) memory.giveBack(body);
  const again = [memory.take(3 * MiB), memory.take(3 * MiB), memory.take(3 * MiB)];
  expect(again.map(isShared)).toEqual([true, true, false]);
  const first = new Set(bodies.map((body) => body.buffer));
  expect(again.filter((body) => first.has(body.buffer))).toHaveLength(2);
});
