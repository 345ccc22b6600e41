// The table of all routes of the REST API, in the order of the documentation. Used by app.ts, the OpenAPI description
// and the generator.
import type { Tag } from "../openapi/introduction.ts";
import type { Route } from "../route.ts";
import * as annotation from "./annotation.ts";
import * as annotationSet from "./annotation-set.ts";
import * as apiKey from "./api-key.ts";
import * as audioContent from "./audio-content.ts";
import * as audioFile from "./audio-file.ts";
import { createFromUrl } from "./audio-from-url.ts";
import * as dataset from "./dataset.ts";
import { descriptionRoutes } from "./description.ts";
import * as event from "./event.ts";
import * as exchangeExport from "./exchange-export.ts";
import * as exchangeImport from "./exchange-import.ts";
import * as exchangeInference from "./exchange-inference.ts";
import * as health from "./health.ts";
import * as inferenceFile from "./inference-file.ts";
import * as inferenceJob from "./inference-job.ts";
import * as model from "./model.ts";
import * as reviewedFile from "./reviewed-file.ts";
import * as trainingJob from "./training-job.ts";
import * as usage from "./usage.ts";
import * as webhook from "./webhook.ts";

/** By tag: the section of the documentation. */
const sections: Readonly<Record<Tag, readonly Route[]>> = {
  "API keys": [apiKey.createApiKey, apiKey.listKeys, apiKey.revokeKey, apiKey.rotateKey],
  Datasets: [dataset.create, dataset.list, dataset.read, dataset.update, dataset.remove],
  "Audio files": [
    audioFile.createUpload,
    audioFile.createUploads,
    createFromUrl,
    audioFile.parts,
    audioFile.confirm,
    audioFile.list,
    audioFile.read,
    audioFile.update,
    audioFile.remove,
    audioContent.download,
    audioContent.waveform,
  ],
  "Annotation sets": [
    annotationSet.create,
    annotationSet.list,
    annotationSet.read,
    annotationSet.publish,
    annotationSet.remove,
    reviewedFile.list,
    reviewedFile.mark,
    reviewedFile.unmark,
  ],
  Annotations: [
    annotation.create,
    annotation.createBulk,
    annotation.updateBulk,
    annotation.removeBulk,
    annotation.list,
    annotation.read,
    annotation.update,
    annotation.remove,
  ],
  "Labelling exchange": [
    exchangeExport.exportLabels,
    ...exchangeExport.exportTexts,
    exchangeImport.importLabelTool,
    exchangeImport.importCsv,
    exchangeImport.importAudacity,
    exchangeInference.exportDetections,
    exchangeInference.toAnnotationSet,
  ],
  "Training jobs": [
    trainingJob.create,
    trainingJob.list,
    trainingJob.read,
    trainingJob.cancel,
    trainingJob.retry,
    trainingJob.remove,
    trainingJob.events,
    trainingJob.metrics,
  ],
  Models: [
    model.list,
    model.read,
    model.update,
    model.archive,
    model.unarchive,
    model.remove,
    model.download,
  ],
  "Inference jobs": [
    inferenceJob.create,
    inferenceJob.list,
    inferenceJob.read,
    inferenceJob.start,
    inferenceJob.cancel,
    inferenceJob.retry,
    inferenceJob.remove,
    inferenceJob.detections,
    inferenceJob.events,
  ],
  "Inference files": [
    inferenceFile.createUpload,
    inferenceFile.createUploads,
    inferenceFile.parts,
    inferenceFile.confirm,
    inferenceFile.list,
    inferenceFile.read,
    inferenceFile.download,
    inferenceFile.remove,
    inferenceFile.detections,
  ],
  Events: [event.list, event.stream],
  Webhooks: [
    webhook.create,
    webhook.list,
    webhook.read,
    webhook.update,
    webhook.remove,
    webhook.rotateSecret,
    webhook.test,
    webhook.deliveries,
    webhook.readDelivery,
    webhook.redeliver,
  ],
  Service: [usage.read, health.health, health.readiness, health.startup, ...descriptionRoutes(() => routes)],
};

export const routes: readonly Route[] = Object.entries(sections).flatMap(([tag, section]) =>
  section.map((route) => ({ ...route, tag })),
);
