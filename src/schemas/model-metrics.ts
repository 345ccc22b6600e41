// What the trainer measures: `metrics` of a training job, `eval_metrics` and `architecture` of its model. Made by
// images/worker/plosive_worker/training (metrics.py, evaluation.py, artifacts.py); docs/detection.md says how to read it. All
// members may be missing: models of earlier releases have fewer, and later ones may have more.
import { z } from "zod";
import { count } from "./rest.ts";

const share = (description: string, example: number) =>
  z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .optional()
    .describe(description)
    .meta({ examples: [example] });
const number = (description: string, example: number) => count(description, example).optional();
const flag = (description: string) =>
  z
    .boolean()
    .optional()
    .describe(description)
    .meta({ examples: [false] });

const figures = {
  precision: share("Share of the detections that are right, null where there is none", 0.93),
  recall: share("Share of the events that are found, null where there is none", 0.89),
  segment_f1: share("F1 of whole seconds", 0.94),
  calibration_error: share("Expected calibration error of confidences from 0.1 on", 0.03),
  few_events: flag("Fewer than 5 events of a type to judge by: take the figures as a hint"),
};

const overall = z.looseObject({
  ...figures,
  f1: share("Mean event-F1 of the types that occur in validation", 0.91),
  micro_f1: share("Event-F1 of all events together; precision and recall are theirs too", 0.92),
  psds: share("Polyphonic sound detection score", 0.71),
});

const perType = z.looseObject({
  ...figures,
  f1: share("Event-F1 at the threshold", 0.91),
  ap: share("Average precision, whatever the threshold", 0.95),
  threshold: share("Confidence from which on the model reports this type", 0.55),
  support: number("Events in validation", 42),
  train_support: number("Events in training", 168),
  collar_ms: number("How far a detection's onset may be from the event's", 50),
});

const epoch = z.looseObject({
  epoch: number("Number of the epoch, from 1", 20),
  train_loss: z
    .number()
    .optional()
    .describe("Mean loss of the epoch")
    .meta({ examples: [0.04] }),
  val_loss: z
    .number()
    .optional()
    .describe("Loss on the validation files")
    .meta({ examples: [0.2] }),
  val_f1: share("Mean event-F1 at neutral thresholds; overall.f1 is at the chosen ones", 0.88),
  learning_rate: z
    .number()
    .optional()
    .describe("At the end of the epoch")
    .meta({ examples: [0.001] }),
});

const split = z.looseObject({
  mode: z
    .string()
    .optional()
    .describe("files: whole files were kept out. time_blocks: too few files, blocks of the same ones were")
    .meta({ examples: ["files"] }),
  optimistic: flag("Training and validation are not apart as they should be: expect less"),
  validated_on: z
    .string()
    .optional()
    .describe("validation, or training where nothing could be kept out")
    .meta({ examples: ["validation"] }),
  train_seconds: number("Audio that was trained on", 2_880),
  validation_seconds: number("Audio that was kept out", 720),
  validation_files: z
    .array(z.string())
    .optional()
    .describe("Ids of the first 200 audio files that were kept out")
    .meta({ examples: [["01981c1e-7a3b-7cc0-8d6e-0f5f3f2f1a11"]] }),
  types_without_validation: z
    .array(z.string())
    .optional()
    .describe("Types without an event on one of the two sides")
    .meta({ examples: [["hum"]] }),
  seed: number("What split and training were drawn with", 7),
  learned_again_from_all_files: flag(
    "The finished model was trained once more, with the validation files too; the figures are those of the first training",
  ),
});

export const modelMetrics = z
  .looseObject({
    overall: overall.optional().describe("Over all types"),
    per_type: z.record(z.string(), perType).optional().describe("By artifact type"),
    confusion: z
      .record(z.string(), z.record(z.string(), z.int().min(0)))
      .optional()
      .describe("Of the events of each type, how many overlap a detection of each type, or of none")
      .meta({ examples: [{ click: { click: 40, pop: 1, none: 2 } }] }),
    history: z.array(epoch).optional().describe("The curves, by epoch"),
    split: split.optional().describe("What was kept out of training"),
  })
  .meta({ id: "ModelMetrics" });

export const architecture = z
  .looseObject({
    family: z
      .string()
      .optional()
      .describe("Temporal convolutional network")
      .meta({ examples: ["tcn"] }),
    encoder: z
      .unknown()
      .optional()
      .describe("Features that it takes: id and number of columns")
      .meta({ examples: [{ id: "dsp-mr1", dims: 140 }] }),
    head: z
      .unknown()
      .optional()
      .describe("Its layers")
      .meta({ examples: [{ width: 96, kernel: 5, context_ms: 620, classes: 4 }] }),
    sample_rate_hz: number("Rate that audio is resampled to for the features", 24_000),
    frame_hop_ms: number("Distance of two frames", 10),
    parameters: number("Learned numbers", 118_000),
  })
  .meta({ id: "ModelArchitecture" });
