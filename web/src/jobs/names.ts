// Names of datasets and models for pages that show only their ids: the newest hundred of each, read once.
import { api, body } from "../app/api.ts";
import { useResource } from "../app/resource.ts";

const page_size = 100;

export const useDatasets = () =>
  useResource("datasets/newest", () =>
    body(api.GET("/api/v1/datasets", { params: { query: { page_size } } })),
  );

/** With archived ones: their jobs stay. */
export const useModels = () =>
  useResource(
    "models/newest",
    () => body(api.GET("/api/v1/models", { params: { query: { page_size, archived: "all" } } })),
    ({ type }) => type.startsWith("model."),
  );

/** The name of a resource, or the beginning of its id. */
export const nameOf = (
  list: { readonly items: readonly { readonly id: string; readonly name: string }[] } | undefined,
  id: string,
) => list?.items.find((item) => item.id === id)?.name ?? `${id.slice(0, 8)}…`;
