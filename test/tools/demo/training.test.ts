// The guarantee about progress_percent, checked on the samples of a polling client.
import { describe, expect, test } from "vitest";
import { lastOf, recordProgress, type Sample } from "../../../tools/demo/training.ts";

const running = (percent: number): Sample => ({ status: "running", percent });
const done: Sample = { status: "completed", percent: 100 };

describe("recordProgress", () => {
  test("finds no violation in a climb to 100", () => {
    const record = recordProgress([
      { status: "pending", percent: 0 },
      running(0),
      running(10),
      running(10),
      running(55),
      done,
      done,
    ]);
    expect(record).toEqual({
      values: [0, 10, 55, 100],
      distinct: 4,
      neverFell: true,
      hundredExactlyWhenCompleted: true,
    });
  });

  const broken: { name: string; samples: Sample[]; field: "neverFell" | "hundredExactlyWhenCompleted" }[] = [
    { name: "a fall", samples: [running(40), running(39), done], field: "neverFell" },
    { name: "100 while running", samples: [running(100), done], field: "hundredExactlyWhenCompleted" },
    {
      name: "completed at 99",
      samples: [{ status: "completed", percent: 99 }],
      field: "hundredExactlyWhenCompleted",
    },
    {
      name: "failed at 100",
      samples: [{ status: "failed", percent: 100 }],
      field: "hundredExactlyWhenCompleted",
    },
    { name: "no end", samples: [running(5)], field: "hundredExactlyWhenCompleted" },
  ];
  test.each(broken)("reports that $name violates $field", ({ samples, field }) => {
    expect(recordProgress(samples)[field]).toBe(false);
  });
});

test("lastOf prefers the validation series and skips empty ones", () => {
  const series = [
    { name: "train_loss", points: [[0, 3] as [number, number]] },
    { name: "val_loss", points: [[0, 2] as [number, number], [1, 1] as [number, number]] },
    { name: "val_f1", points: [] },
  ];
  expect(lastOf({ series }, /loss/)).toEqual({ name: "val_loss", step: 1, value: 1 });
  expect(lastOf({ series }, /f1/)).toBeUndefined();
});
