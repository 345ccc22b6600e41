// The table of all routes of the REST API, in the order of the documentation. Used by app.ts, the OpenAPI description
// and the generator.
import type { Tag } from "../openapi/introduction.ts";
import type { Route } from "../route.ts";
import { routes as annotations } from "./annotation.ts";
import { routes as annotationSets } from "./annotation-set.ts";
import { routes as apiKeys } from "./api-key.ts";
import { routes as audioContent } from "./audio-content.ts";
import { routes as audioFiles, tickets } from "./audio-file.ts";
import { createFromUrl } from "./audio-from-url.ts";
import { routes as datasets } from "./dataset.ts";
import { descriptionRoutes } from "./description.ts";
import { routes as events } from "./event.ts";
import { routes as exports } from "./exchange-export.ts";
import { routes as imports } from "./exchange-import.ts";
import { routes as exchangeOfDetections } from "./exchange-inference.ts";
import { routes as probes } from "./health.ts";
import { routes as inferenceFiles } from "./inference-file.ts";
import { routes as inferenceJobs } from "./inference-job.ts";
import { routes as models } from "./model.ts";
import { routes as reviewedFiles } from "./reviewed-file.ts";
import { routes as trainingJobs } from "./training-job.ts";
import { read as usage } from "./usage.ts";
import { routes as webhooks } from "./webhook.ts";

/** By tag: the section of the documentation. */
const sections: Readonly<Record<Tag, readonly Route[]>> = {
  "API keys": apiKeys,
  Datasets: datasets,
  "Audio files": [...tickets, createFromUrl, ...audioFiles, ...audioContent],
  "Annotation sets": [...annotationSets, ...reviewedFiles],
  Annotations: annotations,
  "Labelling exchange": [...exports, ...imports, ...exchangeOfDetections],
  "Training jobs": trainingJobs,
  Models: models,
  "Inference jobs": inferenceJobs,
  "Inference files": inferenceFiles,
  Events: events,
  Webhooks: webhooks,
  Service: [usage, ...probes, ...descriptionRoutes(() => routes)],
};

export const routes: readonly Route[] = Object.entries(sections).flatMap(([tag, section]) =>
  section.map((route) => ({ ...route, tag })),
);
