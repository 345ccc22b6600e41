// Which detections of two models agree.
import { describe, expect, it } from "vitest";
import { type Found, pair, sharedFiles, tallies } from "../../web/src/compare/pairing.ts";

let next = 0;
const found = (startMs: number, endMs: number, more: Partial<Found> = {}): Found => ({
  id: `${next++}`,
  file: "f",
  type: "click",
  startMs,
  endMs,
  confidence: 0.9,
  ...more,
});
const spans = (list: readonly Found[]) => list.map(({ startMs, endMs }) => [startMs, endMs]);

describe("two detections", () => {
  it.each([
    ["overlap", found(0, 100), found(90, 300)],
    ["are nearly side by side", found(0, 100), found(150, 300)],
    ["lie within each other", found(0, 10_000), found(5_000, 5_010)],
  ])("agree if they %s", (_, a, b) => {
    expect(pair([a], [b]).matched).toEqual([[a, b]]);
    expect(pair([b], [a]).matched).toEqual([[b, a]]);
  });

  it.each([
    ["of other types", found(0, 100), found(0, 100, { type: "hum" })],
    ["in other files", found(0, 100), found(0, 100, { file: "g" })],
    ["too far apart", found(0, 100), found(151, 300)],
  ])("%s do not agree", (_, a, b) => expect(pair([a], [b])).toEqual({ matched: [], onlyA: [a], onlyB: [b] }));
});

describe("many detections", () => {
  it("do not agree with one that ended long before, beside longer ones", () => {
    const others = [found(100, 2_500), found(3_000, 3_010)];
    expect(pair([found(5_000, 5_010)], others).matched).toEqual([]);
  });

  it("agree one by one: the nearest first", () => {
    const [early, late] = [found(0, 40), found(30, 70)];
    const other = found(35, 70);
    const { matched, onlyA } = pair([early, late], [other]);
    expect(matched).toEqual([[late, other]]);
    expect(onlyA).toEqual([early]);
  });

  it("are each in exactly one part, in any order of the input", () => {
    // A small generator of its own, so that each run has the same list.
    let state = 7;
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    const many = () =>
      Array.from({ length: 300 }, () => {
        const start = random(60_000);
        return found(start, start + random(900), { type: random(2) ? "click" : "hum", file: `${random(3)}` });
      });
    const [a, b] = [many(), many()];
    const { matched, onlyA, onlyB } = pair(a, b);
    expect(new Set([...matched.map(([x]) => x), ...onlyA])).toEqual(new Set(a));
    expect(new Set([...matched.map(([, y]) => y), ...onlyB])).toEqual(new Set(b));
    expect(matched.length).toBeGreaterThan(50);
    const turned = pair([...a].reverse(), [...b].reverse());
    expect(spans(turned.onlyA)).toEqual(spans(onlyA));
    // What is left over has no free partner.
    for (const x of onlyA)
      for (const y of onlyB)
        expect(x.file === y.file && x.type === y.type && x.startMs <= y.endMs && y.startMs <= x.endMs).toBe(
          false,
        );
  });

  it("are counted by type, the most frequent first", () => {
    const pairing = pair(
      [found(0, 10), found(1_000, 1_010), found(0, 10, { type: "breath" })],
      [found(0, 10), found(5_000, 5_010), found(9_000, 9_010)],
    );
    expect(tallies(pairing, ({ type }) => type)).toEqual([
      { name: "click", matched: 1, onlyA: 1, onlyB: 2, agreement: 0.25 },
      { name: "breath", matched: 0, onlyA: 1, onlyB: 0, agreement: 0 },
    ]);
  });
});

describe("the files of two jobs", () => {
  const file = (id: string, audio_file_id: string | null, checksum_sha256: string | null = null) => ({
    id,
    audio_file_id,
    checksum_sha256,
    filename: "x.wav",
  });

  it("are the same by their audio file or by their bytes, each once", () => {
    const { keyOfA, keyOfB } = sharedFiles(
      [file("a1", "x"), file("a2", null, "c"), file("a3", null, "c"), file("a4", null), file("a5", "y")],
      [file("b1", null, "c"), file("b2", "x"), file("b3", null), file("b4", "z", "d")],
    );
    expect([...keyOfA]).toEqual([
      ["a1", "a1"],
      ["a2", "a2"],
    ]);
    expect([...keyOfB]).toEqual([
      ["b2", "a1"],
      ["b1", "a2"],
    ]);
  });
});
