// The flat list of all kinds of custom resources. Used by src/gen, src/kube and the operator's wiring.
import { embeddingJobKind } from "./embedding-job.ts";
import { inferenceJobKind } from "./inference-job.ts";
import { modelKind } from "./model.ts";
import { trainingJobKind } from "./training-job.ts";

export const jobKinds = [embeddingJobKind, inferenceJobKind, trainingJobKind] as const;
export const kinds = [...jobKinds, modelKind] as const;
