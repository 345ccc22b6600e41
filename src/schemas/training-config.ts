// The training configuration: the `config` of POST /api/v1/training-jobs, of a TrainingJob's spec, and of the trainer's
// work document. One schema for all three. The only upper bound of chunk and stride is
// 2^53; the trainer reduces them to what fits into its memory.
import { z } from "zod";
import { artifactTypeName, falseAlarms } from "./primitives.ts";

export const trainingConfig = z
  .object({
    artifact_types: z
      .array(artifactTypeName)
      .min(1)
      .max(64)
      .describe(
        "Artifact types to train; the dataset must have each of them, and the annotation set must have annotations of each",
      ),
    epochs: z.int().min(1).max(100).default(20).describe("Number of passes over the training data"),
    validation_split: z
      .number()
      .min(0.1)
      .max(0.5)
      .default(0.2)
      .describe(
        "Share of the files that is held out of training, to choose thresholds and to measure the model. With few labels, the model is trained again on all files after it was measured",
      ),
    learning_rate: z
      .number()
      .min(0.0001)
      .max(0.1)
      .default(0.001)
      .describe(
        "Peak learning rate of the optimizer. The outputs of the network learn at 3 times this rate, its pretrained layers at 0.6 times",
      ),
    batch_size: z.int().min(8).max(256).default(32).describe("Chunks in one optimizer step"),
    chunk_size_ms: z
      .int()
      .min(1)
      .default(500)
      .describe("Length of a training sample and of an inference window, in milliseconds"),
    stride_ms: z
      .int()
      .min(1)
      .default(250)
      .describe("Distance between the starts of consecutive chunks, in milliseconds"),
    max_false_alarms_per_hour: falseAlarms(
      "Thresholds of the model are raised until this many false alarms are expected",
    ).optional(),
    seed: z
      .int()
      .min(0)
      .max(2_147_483_647)
      .optional()
      .describe("Random seed of the run; by default derived from the job's id")
      .meta({ examples: [7] }),
  })
  .describe("Options of training");

export type TrainingConfig = z.infer<typeof trainingConfig>;

/**
 * The REST form: with a time limit, which becomes activeDeadlineSeconds of the custom resource. Trainers do not see it.
 */
export const trainingJobConfig = trainingConfig
  .extend({
    max_runtime_seconds: z
      .int()
      .min(1)
      .max(604_800)
      .optional()
      .describe("Seconds after which a running job fails; one day by default")
      .meta({ examples: [3600] }),
  })
  .describe("Options of training, and a time limit");

export type TrainingJobConfig = z.infer<typeof trainingJobConfig>;
