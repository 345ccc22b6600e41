// Curves of a training, states of its job, and the form that starts one: what they say, without a browser.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { aligned, figure, grouped, seriesOf, summaryOf } from "../../web/src/chart/series.ts";
import { hintOf, numberFields, readNumber, readNumbers } from "../../web/src/forms/schema-fields.ts";
import { ranMs, remainingMs, unfinished, waitingReason } from "../../web/src/jobs/status.ts";
import { nextStepOf } from "../../web/src/pages/training-start/preconditions.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const secondsAgo = (seconds: number) => new Date(now - seconds * 1000).toISOString();

describe("curves", () => {
  const loss = { name: "val_loss", points: [[1, 0.5] as const, [2, 0.25] as const] };

  it("with one unit share a chart, and scores come first", () => {
    const one = (name: string) => ({ name, points: [[1, 1] as const] });
    const groups = grouped([one("learning_rate"), loss, one("train_loss"), one("val_f1"), one("new")]);
    expect(groups.map(({ title, series }) => [title, series.map(({ name }) => name)])).toEqual([
      ["Validation F1", ["Validation F1"]],
      ["Loss", ["Training loss", "Validation loss"]],
      ["Learning rate", ["Learning rate"]],
      ["new", ["new"]],
    ]);
  });

  it("leave out values that cannot be drawn, and curves without any", () => {
    expect(grouped([{ name: "a", points: [[1, Number.NaN]] }])).toEqual([]);
  });

  it("have a value or a gap at each step of the others", () => {
    const other = { name: "train_loss", points: [[3, 3] as const, [1, 1] as const] };
    expect(aligned([loss, other])).toEqual({
      steps: [1, 2, 3],
      values: [
        [0.5, 0.25, null],
        [1, null, 3],
      ],
    });
  });

  it("are told in a sentence", () => {
    expect(summaryOf({ ...loss, points: [...loss.points, [3, 0.3]] })).toBe(
      "val_loss: 0.5 at epoch 1, 0.3 at epoch 3, between 0.25 and 0.5",
    );
    expect(summaryOf({ name: "x", points: [] })).toBe("x: no values yet");
    expect([0, 0.0012345, 12_345].map(figure)).toEqual(["0", "0.00123", "12300"]);
  });

  it("of a model come from its metrics", () =>
    expect(
      seriesOf([
        { epoch: 1, val_f1: 0.5 },
        { epoch: 2, val_f1: null, note: "x" },
      ]),
    ).toEqual([{ name: "val_f1", points: [[1, 0.5]] }]));
});

describe("a job", () => {
  const job = { status: "running" as const, progress_percent: 25, started_at: secondsAgo(60) };

  it("takes as long as its pace so far says", () => expect(remainingMs(job, now)).toBe(180_000));

  it.each([
    { status: "queued" as const },
    { started_at: null },
    { progress_percent: 2 },
    { started_at: secondsAgo(2) },
  ])("says nothing about its end with %j", (part) =>
    expect(remainingMs({ ...job, ...part }, now)).toBeUndefined(),
  );

  it("says why it does not run yet", () => {
    const message = "2 of 2 training jobs run, 1 waits";
    expect(waitingReason({ status: "queued", status_message: message })).toBe(message);
    expect(waitingReason({ status: "pending", status_message: null })).toContain("not taken");
    expect(waitingReason({ status: "running", status_message: message })).toBeUndefined();
  });

  it("has run from its start to its end, or until now", () => {
    expect(ranMs({ started_at: secondsAgo(60), completed_at: secondsAgo(20) }, now)).toBe(40_000);
    expect(ranMs({ started_at: secondsAgo(60), completed_at: null }, now)).toBe(60_000);
    expect(ranMs({ started_at: null, completed_at: secondsAgo(20) }, now)).toBeUndefined();
    expect(unfinished).toEqual(["pending", "queued", "running", "cancelling"]);
  });
});

describe("the form of a training", () => {
  const { schemas } = JSON.parse(readFileSync("openapi.json", "utf8")).components;
  const fields = numberFields(schemas.CreateTrainingJob.properties.config.properties);
  const field = (name: string) => fields.find((candidate) => candidate.name === name)!;

  it("has the numbers of the description, with their bounds and defaults", () => {
    expect(field("epochs")).toMatchObject({ isInteger: true, min: 1, max: 100, fallback: 20 });
    expect(field("validation_split")).toMatchObject({ isInteger: false, min: 0.1, max: 0.5 });
    expect(fields.map(({ name }) => name)).not.toContain("artifact_types");
    expect([field("chunk_size_ms").label, field("max_runtime_seconds").label]).toEqual([
      "Chunk size (ms)",
      "Max runtime (s)",
    ]);
  });

  it("says the bounds in words, without those that no number reaches", () => {
    expect(hintOf(field("epochs"))).toBe(
      "Number of passes over the training data. From 1 to 100; by default 20.",
    );
    expect(hintOf(field("stride_ms"))).toContain("At least 1; by default 250.");
  });

  it("reads numbers that may be null too", () => {
    const options = numberFields(schemas.CreateInferenceJob.properties.config.properties);
    expect(options.find(({ name }) => name === "threshold")).toMatchObject({ min: 0, max: 1 });
    expect(options.map(({ name }) => name)).not.toContain("thresholds");
  });

  it.each([
    ["", undefined],
    [" 7 ", 7],
    ["1.5", "Enter a whole number."],
    ["0", "At least 1."],
    ["101", "At most 100."],
    ["many", "Enter a number."],
    ["Infinity", "Enter a number."],
  ])("reads %j as %j", (text, read) => expect(readNumber(field("epochs"), text)).toBe(read));

  it("sends what is filled in, and names the fields with faults", () =>
    expect(readNumbers(fields, { epochs: "3", learning_rate: "0,01", batch_size: "1" })).toEqual({
      values: { epochs: 3, learning_rate: 0.01 },
      faults: { batch_size: "At least 8." },
    }));

  it("leads from a failed precondition to the page where it can be met", () => {
    expect(nextStepOf("not_enough_audio", "d")).toMatchObject({ to: "/datasets/d/upload" });
    expect(nextStepOf("no_annotations", "d")).toMatchObject({ to: "/datasets/d?tab=sets" });
    expect(nextStepOf("quota_exceeded", "d")).toBeUndefined();
  });
});
