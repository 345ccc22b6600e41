// All datasets and models, to choose from and for pages that show only their ids.
import { allItems } from "../../../client/client.ts";
import { api } from "../app/api.ts";
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

/** The name of a resource, or the beginning of its id. */
export const nameOf = (
  list: { readonly items: readonly { readonly id: string; readonly name: string }[] } | undefined,
  id: string,
) => list?.items.find((item) => item.id === id)?.name ?? `${id.slice(0, 8)}…`;
