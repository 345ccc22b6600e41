// Measurements of the trainer: `metrics` of a training job, `eval_metrics` and `architecture` of its model.
// images/worker/plosive_worker/training (metrics.py, evaluation.py, artifacts.py) writes them; docs/detection.md
// explains how to read them. Every member is optional: models of earlier releases have fewer members, and later ones
// may have more.
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
  precision: share("Share of the detections that match an event; null without detections", 0.93),
  recall: share("Share of the events that are found; null without events", 0.89),
  segment_f1: share("F1 score over segments of one second", 0.94),
  calibration_error: share("Expected calibration error of the confidences from 0.1 upwards", 0.03),
  few_events: flag(
    "True: a type has fewer than 5 validation events, so the figures are only a rough estimate",
  ),
};

const overall = z.looseObject({
  ...figures,
  f1: share("Mean event-F1 of the types that occur in the validation files", 0.91),
  micro_f1: share("Event-F1 over all events together; precision and recall are over all events too", 0.92),
  psds: share("Polyphonic sound detection score", 0.71),
});

const perType = z.looseObject({
  ...figures,
  f1: share("Event-F1 at the threshold", 0.91),
  ap: share("Average precision over all thresholds", 0.95),
  threshold: share("Lowest confidence at which the model reports this type", 0.55),
  support: number("Number of events in the validation files", 42),
  train_support: number("Number of events in the training files", 168),
  collar_ms: number(
    "Largest distance between the onsets of a detection and of its event that counts as a match",
    50,
  ),
});

const epoch = z.looseObject({
  epoch: number("Number of the epoch, from 1", 20),
  train_loss: z
    .number()
    .optional()
    .describe("Mean training loss of the epoch")
    .meta({ examples: [0.04] }),
  val_loss: z
    .number()
    .optional()
    .describe("Loss on the validation files")
    .meta({ examples: [0.2] }),
  val_f1: share("Mean event-F1 at neutral thresholds; overall.f1 uses the chosen thresholds", 0.88),
  learning_rate: z
    .number()
    .optional()
    .describe("Learning rate at the end of the epoch")
    .meta({ examples: [0.001] }),
});

const split = z.looseObject({
  mode: z
    .string()
    .optional()
    .describe(
      "`files`: whole files are used for validation. `time_blocks`: there were too few files, so blocks of time of the same files are used",
    )
    .meta({ examples: ["files"] }),
  optimistic: flag(
    "True: training and validation data are not fully separate, so the figures are too optimistic",
  ),
  validated_on: z
    .string()
    .optional()
    .describe(
      "Data that the figures are measured on: `validation`, or `training` if no data could be held out",
    )
    .meta({ examples: ["validation"] }),
  train_seconds: number("Seconds of audio used for training", 2_880),
  validation_seconds: number("Seconds of audio held out for validation", 720),
  validation_files: z
    .array(z.string())
    .optional()
    .describe("Ids of the first 200 audio files held out for validation")
    .meta({ examples: [["01981c1e-7a3b-7cc0-8d6e-0f5f3f2f1a11"]] }),
  types_without_validation: z
    .array(z.string())
    .optional()
    .describe("Types that have no event in the training data or none in the validation data")
    .meta({ examples: [["hum"]] }),
  seed: number("Random seed of the split and of the training", 7),
  learned_again_from_all_files: flag(
    "True: the final model was trained again on all files, including the validation files; the figures are those of the first training",
  ),
});

export const modelMetrics = z
  .looseObject({
    overall: overall.optional().describe("Figures over all types"),
    per_type: z.record(z.string(), perType).optional().describe("Figures by artifact type"),
    confusion: z
      .record(z.string(), z.record(z.string(), z.int().min(0)))
      .optional()
      .describe(
        "For the events of each type: how many overlap a detection of each type, or no detection (`none`)",
      )
      .meta({ examples: [{ click: { click: 40, pop: 1, none: 2 } }] }),
    history: z.array(epoch).optional().describe("Training curves, by epoch"),
    split: split.optional().describe("How the data was split into training and validation"),
  })
  .meta({ id: "ModelMetrics" });

export const architecture = z
  .looseObject({
    family: z
      .string()
      .optional()
      .describe("Network family; `tcn` is a temporal convolutional network")
      .meta({ examples: ["tcn"] }),
    encoder: z
      .unknown()
      .optional()
      .describe("Input features: id and number of columns")
      .meta({ examples: [{ id: "dsp-mr1", dims: 140 }] }),
    head: z
      .unknown()
      .optional()
      .describe("Layers of the network")
      .meta({ examples: [{ width: 96, kernel: 5, context_ms: 620, classes: 4 }] }),
    sample_rate_hz: number("Sample rate to which audio is resampled for the features, in Hz", 24_000),
    frame_hop_ms: number("Distance between two frames, in milliseconds", 10),
    parameters: number("Number of learned parameters", 118_000),
  })
  .meta({ id: "ModelArchitecture" });
