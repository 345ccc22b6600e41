// What the figures of a model say.
import { describe, expect, it } from "vitest";
import { cautions, confusionOf, share, typeRows } from "../../web/src/models/figures.ts";

describe("the figures of a model", () => {
  it("have a row for each type, also for types that nobody measured", () => {
    const rows = typeRows(["click", "hum"], {
      per_type: { click: { f1: 0.9, precision: null, threshold: 0.55, support: 3, few_events: true } },
    });
    expect(rows).toMatchObject([
      { type: "click", f1: 0.9, precision: null, threshold: 0.55, support: 3, isRough: true },
      { type: "hum", f1: null, support: null, isRough: false },
    ]);
    expect(typeRows([], { per_type: { old: {} } }).map(({ type }) => type)).toEqual(["old"]);
    expect([share(0.905), share(null), share(undefined), share(0)]).toEqual(["0.91", "–", "–", "0.00"]);
  });

  it("show which type is taken for which, in the same order on both sides", () => {
    const matrix = confusionOf(["click", "hum", "unheard"], {
      confusion: { silent: {}, hum: { click: 1, pop: 1 }, click: { none: 2, click: 6 } },
    });
    expect(matrix?.columns).toEqual(["click", "hum", "silent", "pop", "none"]);
    expect(matrix?.rows[0]).toEqual({
      type: "click",
      total: 8,
      cells: [
        { count: 6, share: 0.75 },
        { count: 0, share: 0 },
        { count: 0, share: 0 },
        { count: 0, share: 0 },
        { count: 2, share: 0.25 },
      ],
    });
    expect(matrix?.rows[2]?.cells.every(({ share: part }) => part === 0)).toBe(true);
    expect(confusionOf(["click"], {})).toBeUndefined();
  });

  it("come with what to keep in mind", () => {
    expect(cautions({})).toEqual([]);
    expect(cautions({ split: { validated_on: "training", optimistic: true } })).toEqual([
      expect.stringContaining("No data could be held out"),
    ]);
    const many = cautions({
      overall: { few_events: true },
      split: { optimistic: true, types_without_validation: ["hum"], learned_again_from_all_files: true },
    });
    expect(many).toHaveLength(4);
    expect(many.join()).toContain("No figures for hum");
  });
});
