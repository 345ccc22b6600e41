// The training configuration: the `config` of POST /api/v1/training-jobs, of a TrainingJob's spec, and of the
// trainer's work. One schema for all three (interface specification 2.2); chunk and stride have no upper bound but 2^53,
// the trainer cuts them to what its memory takes.
import { z } from "zod";
import { artifactTypeName } from "./primitives.ts";

export const trainingConfig = z
  .object({
    artifact_types: z
      .array(artifactTypeName)
      .min(1)
      .max(64)
      .describe("Artifact types to learn; each one is in the dataset and has annotations in the set"),
    epochs: z.int().min(1).max(100).default(20).describe("How many times training goes through the data"),
    validation_split: z
      .number()
      .min(0.1)
      .max(0.5)
      .default(0.2)
      .describe(
        "Share of the files kept out of training to choose thresholds and to measure the model. Where labels are few, the model that was measured is then trained once more, on all files",
      ),
    learning_rate: z
      .number()
      .min(0.0001)
      .max(0.1)
      .default(0.001)
      .describe("Peak learning rate of the optimizer"),
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
      .describe("Distance between the starts of neighbouring chunks, in milliseconds"),
    seed: z
      .int()
      .min(0)
      .max(2_147_483_647)
      .optional()
      .describe("Seed of the run; by default derived from the job's id")
      .meta({ examples: [7] }),
  })
  .describe("How a detector is trained");

export type TrainingConfig = z.infer<typeof trainingConfig>;

/** The same with what the trainer does not see: the limit becomes the custom resource's activeDeadlineSeconds. */
export const trainingJobConfig = trainingConfig
  .extend({
    max_runtime_seconds: z
      .int()
      .min(1)
      .max(604_800)
      .optional()
      .describe("The job fails when it runs longer than this, in seconds; by default one day")
      .meta({ examples: [3600] }),
  })
  .describe("How a detector is trained, and for how long at most");

export type TrainingJobConfig = z.infer<typeof trainingJobConfig>;
