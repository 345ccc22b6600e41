// /api/v1/models. Only training jobs create models, so there is no POST to the
// collection.
import { z } from "zod";
import {
  archiveModel,
  deleteModel,
  listModels,
  lockModel,
  oneModel,
  unarchiveModel,
  updateModel,
} from "../../db/model.ts";
import { download as downloadSchema } from "../../schemas/audio-file.ts";
import { listModelsQuery, model, updateModelBody } from "../../schemas/model.ts";
import { id, listOf } from "../../schemas/rest.ts";
import { etagOf } from "../conditional.ts";
import { type Call, defineRoute } from "../route.ts";
import { listReply, show, viewDownload, viewOf } from "../view.ts";

const params = z.object({ model_id: id("Id of the model") });
type Params = z.infer<typeof params>;

const viewModel = viewOf(model);

const list = defineRoute("GET", "/api/v1/models", {
  operationId: "listModels",
  summary: "List the models",
  query: listModelsQuery,
  reads: "all",
  answer: { status: 200, description: "One page", schema: listOf(model) },
  handler: async ({ query, tenantId, deps }) =>
    listReply(await listModels(deps.db, tenantId, query), query, viewModel),
});

const read = defineRoute("GET", "/api/v1/models/{model_id}", {
  operationId: "getModel",
  summary: "Read a model",
  params,
  conditional: true,
  answer: { status: 200, description: "The model", schema: model },
  handler: ({ params, tenantId, deps }) => show(oneModel(deps.db, tenantId, params.model_id), viewModel),
});

const update = defineRoute("PATCH", "/api/v1/models/{model_id}", {
  operationId: "updateModel",
  summary: "Change the name, the description or whether the model is active",
  params,
  body: updateModelBody,
  bodyOptional: true,
  answer: { status: 200, description: "The model", schema: model },
  conflicts: ["model_archived"],
  guard,
  handler: ({ params, body, tenantId, deps }) =>
    show(updateModel(deps.db, tenantId, params.model_id, body), viewModel),
});

const archive = defineRoute("POST", "/api/v1/models/{model_id}/archive", {
  operationId: "archiveModel",
  summary: "Archive a model; it becomes inactive and is no longer listed by default",
  params,
  answer: { status: 200, description: "The model", schema: model },
  handler: ({ params, tenantId, deps }) => show(archiveModel(deps.db, tenantId, params.model_id), viewModel),
});

const unarchive = defineRoute("POST", "/api/v1/models/{model_id}/unarchive", {
  operationId: "unarchiveModel",
  summary: "Unarchive a model; it stays inactive until a PATCH activates it",
  params,
  answer: { status: 200, description: "The model", schema: model },
  handler: ({ params, tenantId, deps }) =>
    show(unarchiveModel(deps.db, tenantId, params.model_id), viewModel),
});

const remove = defineRoute("DELETE", "/api/v1/models/{model_id}", {
  operationId: "deleteModel",
  summary: "Delete an archived model; its detections are kept",
  params,
  answer: { status: 204, description: "The model is deleted" },
  conflicts: ["model_not_archived", "model_in_use"],
  guard,
  handler: ({ params, tenantId, deps }) => deleteModel(deps.db, tenantId, params.model_id),
});

const download = defineRoute("GET", "/api/v1/models/{model_id}/download", {
  operationId: "downloadModel",
  summary: "Get a presigned URL of the model artifact (ONNX)",
  params,
  answer: { status: 200, description: "The URL", schema: downloadSchema },
  handler: async ({ params, tenantId, deps }) => {
    const row = await oneModel(deps.db, tenantId, params.model_id);
    const facts = { size_bytes: row.model_size_bytes, checksum_sha256: row.checksum_sha256 };
    return { body: await viewDownload(deps, row.object_store_key, `${row.name}.onnx`, facts) };
  },
});

async function guard({ params, tenantId, deps }: Call<Params>) {
  return [etagOf(viewModel(await lockModel(deps.db, tenantId, params.model_id)))];
}

export const routes = [list, read, update, archive, unarchive, remove, download];
