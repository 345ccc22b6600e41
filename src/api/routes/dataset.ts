// /api/v1/datasets: the datasets, to which audio files and annotation sets belong.
import { z } from "zod";
import {
  type DatasetRow,
  deleteDataset,
  insertDataset,
  listDatasets,
  lockDataset,
  oneDataset,
  updateDataset,
} from "../../db/dataset.ts";
import { createDatasetBody, dataset, listDatasetsQuery, updateDatasetBody } from "../../schemas/dataset.ts";
import { id, listOf } from "../../schemas/rest.ts";
import { etagOf } from "../conditional.ts";
import { type Call, defineRoute } from "../route.ts";
import { listReply, show, viewOf } from "../view.ts";

const params = z.object({ dataset_id: id("Id of the dataset") });
type Params = z.infer<typeof params>;

const viewDataset = viewOf(dataset);

const create = defineRoute("POST", "/api/v1/datasets", {
  operationId: "createDataset",
  summary: "Create a dataset",
  body: createDatasetBody,
  answer: { status: 201, description: "The dataset", schema: dataset },
  handler: async ({ body, tenantId, deps }) => {
    const dataset = {
      name: body.name,
      description: body.description ?? null,
      artifactTypes: body.artifact_types,
    };
    const row = await insertDataset(deps.db, tenantId, dataset, deps.config.PLOSIVE_QUOTA_DATASETS);
    return created(row);
  },
  idempotent: async ({ tenantId, deps }, [id = ""]) => created(await oneDataset(deps.db, tenantId, id)),
});

function created(row: DatasetRow) {
  return { created: [row.id], location: `/api/v1/datasets/${row.id}`, body: viewDataset(row) };
}

const list = defineRoute("GET", "/api/v1/datasets", {
  operationId: "listDatasets",
  summary: "List the datasets",
  query: listDatasetsQuery,
  answer: { status: 200, description: "One page", schema: listOf(dataset) },
  handler: async ({ query, tenantId, deps }) =>
    listReply(await listDatasets(deps.db, tenantId, query), query, viewDataset),
});

const read = defineRoute("GET", "/api/v1/datasets/{dataset_id}", {
  operationId: "getDataset",
  summary: "Read a dataset",
  params,
  conditional: true,
  answer: { status: 200, description: "The dataset", schema: dataset },
  handler: ({ params, tenantId, deps }) =>
    show(oneDataset(deps.db, tenantId, params.dataset_id), viewDataset),
});

const update = defineRoute("PATCH", "/api/v1/datasets/{dataset_id}", {
  operationId: "updateDataset",
  summary: "Change the name, description or artifact types",
  params,
  body: updateDatasetBody,
  answer: { status: 200, description: "The dataset", schema: dataset },
  conflicts: ["artifact_type_in_use", "annotation_set_copying"],
  guard,
  handler: ({ params, body, tenantId, deps }) =>
    show(updateDataset(deps.db, tenantId, params.dataset_id, body), viewDataset),
});

const remove = defineRoute("DELETE", "/api/v1/datasets/{dataset_id}", {
  operationId: "deleteDataset",
  summary: "Delete a dataset with its audio files and annotation sets; models are kept",
  description:
    "Refused while a job that has not ended uses the dataset. The bytes of its audio files are deleted after a grace period, 7 days by default.",
  params,
  reads: "all",
  answer: { status: 204, description: "The dataset is deleted" },
  conflicts: ["dataset_in_use"],
  guard,
  handler: ({ params, tenantId, deps }) => deleteDataset(deps.db, tenantId, params.dataset_id),
});

async function guard({ params, tenantId, deps }: Call<Params>) {
  await lockDataset(deps.db, tenantId, params.dataset_id);
  return [etagOf(viewDataset(await oneDataset(deps.db, tenantId, params.dataset_id)))];
}

export const routes = [create, list, read, update, remove];
