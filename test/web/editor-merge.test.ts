// What is not saved yet, and how it meets the changes of others: nothing that somebody has labelled may be lost or doubled.
import { describe, expect, it } from "vitest";
import { keptOf, restored } from "../../web/src/editor/keeping.ts";
import { type Base, decided, merge, opsOf, type RegionMap, type Saved } from "../../web/src/editor/merge.ts";
import type { Region } from "../../web/src/editor/region.ts";

const region = (key: string, startMs: number, over: Partial<Region> = {}): Region => ({
  key,
  type: "click",
  startMs,
  endMs: startMs + 50,
  confidence: 1,
  annotator: null,
  extraData: {},
  ...over,
});
const mapOf = (...regions: readonly Region[]): RegionMap => new Map(regions.map((r) => [r.key, r]));
const baseOf = (...regions: readonly Region[]): Base =>
  new Map(regions.map((r) => [r.key, { id: `id-${r.key}`, region: r }]));
/** As the service lists it: keys are ids. */
const saved = (r: Region): Saved => ({ id: `id-${r.key}`, region: { ...r, key: `id-${r.key}` } });
const starts = (regions: RegionMap) =>
  [...regions.values()].map(({ startMs }) => startMs).sort((a, b) => a - b);

const [a, b, c] = [region("a", 100), region("b", 200), region("c", 300)];

describe("what is not saved", () => {
  it("is what was added, changed and deleted", () => {
    const moved = { ...b, endMs: 999 };
    const ops = opsOf(baseOf(a, b), mapOf(moved, c));
    expect(ops).toEqual({
      creates: [c],
      changes: [{ id: "id-b", region: moved }],
      deletes: [{ id: "id-a", region: a }],
    });
  });

  it("is nothing when a change was undone", () => {
    const ops = opsOf(baseOf(a), mapOf({ ...a }));
    expect([ops.creates, ops.changes, ops.deletes]).toEqual([[], [], []]);
  });
});

describe("a merge", () => {
  it("joins changes of different labels, without a question", () => {
    const mine = mapOf({ ...a, startMs: 110 }, b, c);
    const merged = merge(baseOf(a, b), mine, [
      saved(a),
      saved({ ...b, startMs: 220 }),
      saved(region("d", 400)),
    ]);
    expect(merged.conflicts).toEqual([]);
    expect(starts(merged.regions)).toEqual([110, 220, 300, 400]);
    expect(merged.othersChanged).toBe(2);
    expect(opsOf(merged.base, merged.regions).creates).toEqual([c]);
  });

  it("asks where both have changed one label, and keeps mine until somebody decides", () => {
    const mine = { ...a, startMs: 110 };
    const merged = merge(baseOf(a), mapOf(mine), [saved({ ...a, startMs: 90 })]);
    expect(merged.conflicts).toMatchObject([{ key: "a", mine, theirs: { startMs: 90 } }]);
    expect(starts(merged.regions)).toEqual([110]);
  });

  it("asks where one has deleted what the other has changed, in both directions", () => {
    const theyDeleted = merge(baseOf(a), mapOf({ ...a, endMs: 999 }), []);
    expect(theyDeleted.conflicts).toMatchObject([{ key: "a", mine: { endMs: 999 }, theirs: undefined }]);
    expect(theyDeleted.regions.size).toBe(1);
    const iDeleted = merge(baseOf(a), mapOf(), [saved({ ...a, endMs: 999 })]);
    expect(iDeleted.conflicts).toMatchObject([{ key: "a", mine: undefined, theirs: { endMs: 999 } }]);
  });

  it("does not ask where both did the same", () => {
    const both = { ...a, endMs: 999 };
    expect(merge(baseOf(a), mapOf(both), [saved(both)]).conflicts).toEqual([]);
    expect(merge(baseOf(a), mapOf(), []).conflicts).toEqual([]);
  });

  it("takes what was deleted by others away, and what I deleted does not come back", () => {
    expect(merge(baseOf(a, b), mapOf(b), [saved(a)]).regions.size).toBe(0);
  });

  it("knows a new label again that the service has added without an answer, also if it was changed since", () => {
    const merged = merge(baseOf(), mapOf({ ...c, startMs: 310 }), [saved(c)], mapOf(c));
    expect(starts(merged.regions)).toEqual([310]);
    expect(opsOf(merged.base, merged.regions)).toMatchObject({
      creates: [],
      changes: [{ id: "id-c", region: { key: "c", startMs: 310 } }],
    });
    const deleted = merge(baseOf(), mapOf(), [saved(c)], mapOf(c));
    expect(opsOf(deleted.base, deleted.regions).deletes).toMatchObject([{ id: "id-c" }]);
  });

  it("does not double a label that two people have set at the same place", () => {
    expect(merge(baseOf(), mapOf(c), [saved(c)]).regions.size).toBe(1);
  });

  it.each([
    ["mine", [110]],
    ["theirs", [90]],
    ["both", [90, 110]],
  ] as const)("ends with the decision: %s", (choice, wanted) => {
    const merged = merge(baseOf(a), mapOf({ ...a, startMs: 110 }), [saved({ ...a, startMs: 90 })]);
    const regions = decided(
      merged.regions,
      merged.conflicts,
      () => choice,
      () => "new",
    );
    expect(starts(regions)).toEqual(wanted);
  });
});

describe("what the browser keeps", () => {
  const kept = (base: Base, regions: RegionMap, sent: RegionMap = new Map()) =>
    JSON.parse(JSON.stringify(keptOf(base, regions, sent)));

  it("is only what is not saved, and comes back after a reload", () => {
    const idOf = (r: Region): Region => ({ ...r, key: `id-${r.key}` });
    const base: Base = new Map([a, b].map((r) => [`id-${r.key}`, { id: `id-${r.key}`, region: idOf(r) }]));
    const found = kept(base, mapOf({ ...idOf(a), endMs: 999 }, c));
    expect(found.changes).toHaveLength(3);
    const back = restored(found, [saved(a), saved(b), saved(region("d", 400))]);
    expect(back.conflicts).toEqual([]);
    expect(starts(back.regions)).toEqual([100, 300, 400]);
    expect(opsOf(back.base, back.regions)).toMatchObject({
      creates: [{ startMs: 300 }],
      changes: [{ id: "id-a", region: { endMs: 999 } }],
      deletes: [{ id: "id-b" }],
    });
  });

  it("asks after a reload too where somebody else has changed the same label", () => {
    const found = kept(baseOf(a), mapOf({ ...a, endMs: 999 }));
    expect(restored(found, [saved({ ...a, endMs: 111 })]).conflicts).toHaveLength(1);
  });

  it("does not double what had been sent without an answer", () => {
    const found = kept(baseOf(), mapOf({ ...c, startMs: 310 }), mapOf(c));
    const back = restored(found, [saved(c)]);
    expect(starts(back.regions)).toEqual([310]);
    expect(opsOf(back.base, back.regions)).toMatchObject({ creates: [], deletes: [] });
  });
});
