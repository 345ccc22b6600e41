// The editor without a page: regions, undo, keys, times, the visible range, suggestions, agreement.
import { describe, expect, it } from "vitest";
import { agreementOf, type Span } from "../../web/src/editor/agreement.ts";
import {
  applied,
  changed,
  created,
  noHistory,
  record,
  redo,
  removed,
  undo,
} from "../../web/src/editor/history.ts";
import {
  actions,
  defaultKeymap,
  faultOfKey,
  keyOf,
  meaningOf,
  parseKeymap,
  shownKey,
} from "../../web/src/editor/keymap.ts";
import { nextUnreviewed } from "../../web/src/editor/next-file.ts";
import { following, marksOf, moved, showing, within, zoomed } from "../../web/src/editor/range.ts";
import {
  fitted,
  neighbor,
  type Region,
  regionAt,
  regionsOf,
  visibleIn,
} from "../../web/src/editor/region.ts";
import { acceptedAs, openSuggestions, type Suggestion } from "../../web/src/editor/suggestions.ts";
import { clockOf, handleText, parseClock, wordsOf } from "../../web/src/editor/times.ts";
import { cautionsOf } from "../../web/src/pages/annotation-set/cautions.ts";
import { formatOfName } from "../../web/src/pages/annotation-set/import-format.ts";

const region = (key: string, startMs: number, endMs: number, type = "click"): Region => ({
  key,
  type,
  startMs,
  endMs,
  confidence: 1,
  annotator: null,
  extraData: {},
});

describe("regions", () => {
  it("are found like in a plain list, also when a long one reaches over many", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const list = Array.from({ length: 2_000 }, (_, i) => {
      const start = random(7_200_000);
      return region(`r${i}`, start, start + (i % 100 === 0 ? random(2_000_000) : random(400)));
    });
    const regions = regionsOf(list);
    for (let i = 0; i < 200; i++) {
      const from = random(7_200_000);
      const to = from + random(60_000);
      const plain = list.filter((r) => r.endMs >= from && r.startMs <= to).map(({ key }) => key);
      expect(
        visibleIn(regions, from, to)
          .map(({ key }) => key)
          .sort(),
      ).toEqual(plain.sort());
    }
  });

  it("have neighbours by the chosen one, or by the time", () => {
    const { list } = regionsOf([region("b", 200, 210), region("a", 100, 900), region("c", 300, 310)]);
    expect(neighbor(list, "b", 0, 1)?.key).toBe("c");
    expect(neighbor(list, "b", 0, -1)?.key).toBe("a");
    expect(neighbor(list, "c", 0, 1)).toBeUndefined();
    expect(neighbor(list, undefined, 150, 1)?.key).toBe("b");
    expect(neighbor(list, undefined, 200.2, 1)?.key).toBe("b");
    expect(neighbor(list, undefined, 150, -1)?.key).toBe("a");
    expect(neighbor(list, undefined, 200.2, -1)?.key).toBe("a");
  });

  it("are hit at a point: the shortest of them, in their lane", () => {
    const regions = regionsOf([
      region("long", 0, 1_000),
      region("short", 400, 410),
      region("hum", 405, 409, "hum"),
    ]);
    expect(regionAt(regions, "click", 405, 1)?.key).toBe("short");
    expect(regionAt(regions, "click", 500, 1)?.key).toBe("long");
    expect(regionAt(regions, "hum", 500, 1)).toBeUndefined();
  });

  it("fit the service: whole milliseconds, inside of the file, start before end", () => {
    expect(fitted(region("a", 90.6, -3), 1_000)).toMatchObject({ startMs: 0, endMs: 91 });
    expect(fitted(region("a", 10, 5_000), 1_000.7)).toMatchObject({ startMs: 10, endMs: 1_000 });
  });
});

describe("undo", () => {
  const [a, b] = [region("a", 1, 2), region("b", 3, 4)];

  it("takes back and does again, step by step, to the beginning", () => {
    let [regions, history] = [new Map<string, Region>(), noHistory];
    const steps = [[created(a)], [created(b)], [changed(a, { ...a, endMs: 9 })], [removed(b)]];
    const states = [regions];
    for (const [i, edits] of steps.entries()) {
      history = record(history, { what: `step ${i}`, edits, at: i * 10_000 });
      regions = applied(regions, edits).regions;
      states.push(regions);
    }
    for (let i = steps.length - 1; i >= 0; i--) {
      const back = undo(history);
      history = back?.history ?? history;
      regions = applied(regions, back?.edits ?? []).regions;
      expect(regions).toEqual(states[i]);
    }
    expect(undo(history)).toBeUndefined();
    for (let i = 1; i <= steps.length; i++) {
      const forward = redo(history);
      history = forward?.history ?? history;
      regions = applied(regions, forward?.edits ?? []).regions;
      expect(regions).toEqual(states[i]);
    }
    expect(redo(history)).toBeUndefined();
  });

  it("leaves what somebody else has changed since, and takes back the rest", () => {
    const moved = { ...a, endMs: 9 };
    const history = record(noHistory, { what: "Move", edits: [changed(a, moved), created(b)], at: 0 });
    const back = undo(history)?.edits ?? [];
    const theirs = { ...moved, type: "hum" };
    const takenBack = (...regions: Region[]) => applied(new Map(regions.map((r) => [r.key, r])), back);
    const left = ({ regions, isPartial }: ReturnType<typeof takenBack>) => [[...regions.values()], isPartial];
    expect(left(takenBack(moved, b))).toEqual([[a], false]);
    expect(left(takenBack(theirs, b))).toEqual([[theirs], true]);
    expect(left(takenBack(b))).toEqual([[], true]);
    expect(left(takenBack(moved, { ...b, endMs: 8 }))).toEqual([[a, { ...b, endMs: 8 }], true]);
  });

  it("takes nudges of one handle back at once, and ends what could be done again with a new step", () => {
    const [first, second] = [
      { ...a, endMs: 5 },
      { ...a, endMs: 6 },
    ];
    const nudge = (before: Region, after: Region, at: number) => ({
      what: "Move the end",
      edits: [changed(before, after)],
      at,
    });
    let history = record(noHistory, nudge(a, first, 0), true);
    history = record(history, nudge(first, second, 300), true);
    expect(history.done).toHaveLength(1);
    expect(undo(history)?.edits).toEqual([{ before: second, after: a }]);
    expect(record(history, nudge(second, a, 5_000), true).done).toHaveLength(2);
    const undone = undo(history)?.history ?? history;
    expect(record(undone, nudge(a, second, 6_000)).undone).toEqual([]);
  });
});

describe("keys", () => {
  const press = (key: string, over = {}) =>
    keyOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...over });

  it.each([
    ["z", {}, "Z"],
    ["Z", { shiftKey: true }, "Shift+Z"],
    [" ", {}, "Space"],
    ["<", { shiftKey: true }, "<"],
    ["?", { shiftKey: true }, "?"],
    ["=", {}, "+"],
    ["[", { ctrlKey: true, altKey: true }, "["],
    ["Backspace", {}, "Delete"],
    ["ArrowLeft", {}, "ArrowLeft"],
    ["z", { ctrlKey: true }, undefined],
    ["j", { altKey: true }, undefined],
    ["Tab", {}, undefined],
    ["Shift", { shiftKey: true }, undefined],
  ])("%j %j is %j", (key, over, name) => expect(press(key, over)).toBe(name));

  it("are all different, and digits choose types", () => {
    expect(new Set(Object.values(defaultKeymap)).size).toBe(actions.length);
    for (const action of actions) expect(meaningOf(defaultKeymap, defaultKeymap[action])).toEqual({ action });
    expect(meaningOf(defaultKeymap, "3")).toEqual({ type: 2 });
    expect(meaningOf(defaultKeymap, "Y")).toBeUndefined();
  });

  it("can be changed, but not to a digit or to a key that is taken", () => {
    expect(faultOfKey(defaultKeymap, "play", "P")).toBeUndefined();
    expect(faultOfKey(defaultKeymap, "play", "Space")).toBeUndefined();
    expect(faultOfKey(defaultKeymap, "play", "Z")).toContain("Undo");
    expect(faultOfKey(defaultKeymap, "play", "4")).toBeDefined();
  });

  it("come back from the browser, with exchanged ones, and without what makes no sense", () => {
    expect(parseKeymap('{"play":"P"}')).toEqual({ ...defaultKeymap, play: "P" });
    expect(parseKeymap('{"next":"J","previous":"L"}')).toMatchObject({ next: "J", previous: "L" });
    for (const text of [null, "", "[]", "{", "7", '{"play":"Z"}', '{"play":3}', '{"fly":"P"}'])
      expect(parseKeymap(text)).toEqual(defaultKeymap);
  });

  it("are shown as on a keyboard", () =>
    expect([shownKey("Shift+Z"), shownKey("+"), shownKey("ArrowLeft")]).toEqual([
      ["Shift", "Z"],
      ["+"],
      ["←"],
    ]));
});

describe("times", () => {
  it.each([
    [0, "0:00.000"],
    [62_345, "1:02.345"],
    [3_723_004, "1:02:03.004"],
    [59_999.6, "1:00.000"],
  ])("%d ms are written %s", (ms, text) => expect(clockOf(ms)).toBe(text));

  it("are rounded to the digits that are shown", () =>
    expect([clockOf(1_960, 1), clockOf(1_499, 0), clockOf(61_996, 2)]).toEqual([
      "0:02.0",
      "0:01",
      "1:02.00",
    ]));

  it.each([
    ["1:02.345", 62_345],
    ["62.3", 62_300],
    [" 1:00:02,5 ", 3_602_500],
    ["0", 0],
    ["", undefined],
    ["1:2:3:4", undefined],
    ["-1", undefined],
    ["1e3", undefined],
    ["1:02.345.6", undefined],
  ])("%j is read as %j", (text, ms) => expect(parseClock(text)).toBe(ms));

  it("are read back as they were written", () => {
    for (let ms = 0; ms < 40_000_000; ms += 99_991) expect(parseClock(clockOf(ms))).toBe(ms);
  });

  it("are said in words", () => {
    expect(wordsOf("click", 1_250, 1_310)).toBe("click, 1.25 to 1.31 s");
    expect(wordsOf("click", 1_250, 1_250)).toBe("click, at 1.25 s");
    expect(handleText("start", 1_234)).toBe("start 1.234 seconds");
  });
});

describe("the visible range", () => {
  it("stays in the file, and zooms around a time that stays where it is", () => {
    expect(within({ fromMs: -50, toMs: 50 }, 1_000)).toEqual({ fromMs: 0, toMs: 100 });
    expect(moved({ fromMs: 800, toMs: 900 }, 500, 1_000)).toEqual({ fromMs: 900, toMs: 1_000 });
    const range = { fromMs: 2_000, toMs: 4_000 };
    const near = zoomed(range, 2, 2_500, 10_000);
    expect(near).toEqual({ fromMs: 2_250, toMs: 3_250 });
    expect(zoomed(near, 0.5, 2_500, 10_000)).toEqual(range);
    expect(zoomed(range, 1e9, 2_500, 10_000).toMs - zoomed(range, 1e9, 2_500, 10_000).fromMs).toBe(50);
    expect(zoomed(range, 0, 2_500, 10_000)).toEqual({ fromMs: 0, toMs: 10_000 });
  });

  it("shows a region with room around it, and does not move if it does", () => {
    const range = { fromMs: 0, toMs: 1_000 };
    expect(showing(range, 400, 500, 10_000)).toBe(range);
    const later = showing(range, 4_000, 4_100, 10_000);
    expect(later.fromMs < 4_000 && later.toMs > 4_100).toBe(true);
    const long = showing(range, 2_000, 6_000, 10_000);
    expect(long).toEqual({ fromMs: 1_000, toMs: 7_000 });
  });

  it("turns the page when the playhead leaves it", () => {
    const range = { fromMs: 0, toMs: 1_000 };
    expect(following(range, 500, 10_000)).toBe(range);
    expect(following(range, 1_001, 10_000)).toEqual({ fromMs: 951, toMs: 1_951 });
  });

  it("has marks at round times with the digits that they need", () => {
    expect(marksOf({ fromMs: 950, toMs: 3_100 }, 500)).toEqual({
      stepMs: 500,
      digits: 1,
      times: [1_000, 1_500, 2_000, 2_500, 3_000],
    });
    expect(marksOf({ fromMs: 0, toMs: 7_200_000 }, 1_000).times.length).toBeLessThan(12);
  });
});

describe("suggestions", () => {
  const suggestion = (id: string, startMs: number, over: Partial<Suggestion> = {}): Suggestion => ({
    id,
    jobId: "job",
    type: "click",
    startMs,
    endMs: startMs + 100,
    confidence: 0.9,
    ...over,
  });

  it("are open until a label says the same, somebody rejects them, or they are not sure enough", () => {
    const all = [
      suggestion("late", 5_000),
      suggestion("labelled", 1_010),
      suggestion("other type", 1_010, { type: "hum" }),
      suggestion("rejected", 3_000),
      suggestion("unsure", 4_000, { confidence: 0.2 }),
    ];
    const open = openSuggestions(all, [region("a", 1_000, 1_100)], new Set(["rejected"]), 0.5);
    expect(open.map(({ id }) => id)).toEqual(["other type", "late"]);
  });

  it("become labels that say where they come from", () => {
    const item = suggestion("x", 1_000);
    const label = acceptedAs(item, "key");
    expect(label).toMatchObject({ startMs: 1_000, confidence: 0.9, extraData: { inference_job_id: "job" } });
    expect(openSuggestions([item], [label], new Set(), 0)).toEqual([]);
  });
});

describe("agreement", () => {
  const span = (startMs: number, endMs: number, type = "click", fileId = "f"): Span => ({
    fileId,
    type,
    startMs,
    endMs,
  });

  it("counts what both have, what one has, and the score, per type", () => {
    const a = [span(100, 110), span(900, 910), span(2_000, 5_000, "hum")];
    const b = [span(140, 150), span(1_500, 1_510), span(2_150, 5_500, "hum")];
    const [click, hum] = agreementOf(a, b);
    expect([click?.matched.length, click?.onlyA, click?.onlyB, click?.f1]).toEqual([1, [a[1]], [b[1]], 0.5]);
    expect([hum?.matched.length, hum?.f1]).toEqual([1, 1]);
  });

  it("matches one to one, nearest first, and never across files or types", () => {
    const [result] = agreementOf([span(100, 110), span(130, 140)], [span(128, 138)]);
    expect(result?.matched[0]?.[0].startMs).toBe(130);
    expect(result?.onlyA).toHaveLength(1);
    expect(agreementOf([span(1, 2, "click", "f")], [span(1, 2, "click", "g")])[0]?.f1).toBe(0);
    expect(agreementOf([span(1, 2)], [span(1, 2, "hum")]).map(({ f1 }) => f1)).toEqual([0, 0]);
    expect(agreementOf([], [])).toEqual([]);
  });
});

describe("the next file", () => {
  /** Two files of each moment. */
  const fileOf = (n: number) => ({ id: `${n}`, created_at: `${1_000 + Math.floor(n / 2)}` });
  const ids = (...numbers: number[]) => new Set(numbers.map(String));
  let read = 0;
  const dataset = (length: number) =>
    async function* (createdAfter = "") {
      for (let n = 0; n < length; n++) {
        if (fileOf(n).created_at < createdAfter) continue;
        read++;
        yield fileOf(n);
      }
    };

  it("is the first one behind that is not reviewed, or from the beginning", async () => {
    const files = dataset(4);
    expect(await nextUnreviewed(files, ids(2), fileOf(1))).toBe("3");
    expect(await nextUnreviewed(files, ids(2, 3), fileOf(1))).toBe("0");
    expect(await nextUnreviewed(files, ids(0, 2, 3), fileOf(1))).toBeUndefined();
    expect(await nextUnreviewed(files, ids(), fileOf(9))).toBe("0");
    expect(await nextUnreviewed(files, ids(0))).toBe("1");
    expect(await nextUnreviewed(dataset(0), ids())).toBeUndefined();
  });

  it("is found however many files are before it, without reading them", async () => {
    const reviewed = ids(...Array(9_000).keys());
    read = 0;
    expect(await nextUnreviewed(dataset(10_000), reviewed, fileOf(8_999))).toBe("9000");
    expect(read).toBe(3);
    expect(await nextUnreviewed(dataset(10_000), reviewed)).toBe("9000");
  });
});

describe("annotation sets", () => {
  it("say before the publication what is refused afterwards", () => {
    const dataset = { artifact_types: ["click", "hum"].map((name) => ({ name, description: null })) };
    const set = (total_annotations: number, annotations_by_type: Record<string, number>) => ({
      total_annotations,
      annotations_by_type,
    });
    expect(cautionsOf(dataset, set(2, { click: 1, hum: 1 }), 0)).toEqual([]);
    expect(cautionsOf(dataset, set(1, { click: 1 }), 0)).toEqual([
      expect.stringContaining("no annotations of hum"),
    ]);
    expect(cautionsOf(dataset, set(0, {}), 2)).toEqual([
      expect.stringContaining("empty"),
      expect.stringContaining("2 files"),
    ]);
  });

  it("guess the format of an import by the name of its file", () =>
    expect(["a.JSON", "b.csv", "c.tsv", "d.txt", "e"].map(formatOfName)).toEqual([
      "annotation-tool",
      "csv",
      "csv",
      "audacity",
      undefined,
    ]));
});
