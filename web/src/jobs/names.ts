// All datasets and models, to choose from and for pages that show only their ids.
import { allItems } from "../../../client/client.ts";
import { api, body } from "../app/api.ts";
import { useResource } from "../app/resource.ts";

export const useDatasets = () =>
  useResource("datasets/all", async () => ({
    items: await allItems((query) => api.GET("/api/v1/datasets", { params: { query } })),
  }));

/** With archived ones: their jobs stay. */
export const useModels = () =>
  useResource(
    "models/all",
    async () => ({
      items: await allItems((query) =>
        api.GET("/api/v1/models", { params: { query: { ...query, archived: "all" } } }),
      ),
    }),
    ({ type }) => type.startsWith("model."),
  );

/** One dataset or model, undefined as long as it is not known. For its job, which may outlive it. */
export const useDataset = (id = "") =>
  useResource(`dataset-of-job/${id}`, async () => {
    if (id === "") return undefined;
    return body(api.GET("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id: id } } }));
  }).data;
export const useModel = (id = "") =>
  useResource(`model-of-job/${id}`, async () => {
    if (id === "") return undefined;
    return body(api.GET("/api/v1/models/{model_id}", { params: { path: { model_id: id } } }));
  }).data;

/** The name of a resource, or the beginning of its id. */
export const nameOf = (
  list: { readonly items: readonly { readonly id: string; readonly name: string }[] } | undefined,
  id: string,
) => list?.items.find((item) => item.id === id)?.name ?? `${id.slice(0, 8)}…`;
