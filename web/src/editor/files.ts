// The files of a set, and which of them are reviewed, as the service has them.
import { allItems } from "../../../client/client.ts";
import type { AnnotationSet, AudioFile } from "../../../client/schema.ts";
import { api, body } from "../app/api.ts";

/** More sets are not searched. */
const mostPages = 50;

/** Who goes from file to file does not read the marks of a large set each time. */
const freshMs = 60_000;
const known = new Map<string, { readonly at: number; readonly value: Promise<unknown> }>();

function remembered<T>(key: string, load: () => Promise<T>): Promise<T> {
  const found = known.get(key);
  if (found !== undefined && Date.now() - found.at < freshMs) return found.value as Promise<T>;
  const value = load();
  known.set(key, { at: Date.now(), value });
  value.catch(() => known.delete(key));
  return value;
}

const keyOfReviewed = (setId: string) => `reviewed ${setId}`;

/** A set without its annotations, which may be a million. */
export async function readSet(datasetId: string, setId: string): Promise<AnnotationSet | undefined> {
  for (let page = 1; page <= mostPages; page++) {
    const { items, has_more } = await body(
      api.GET("/api/v1/datasets/{dataset_id}/annotation-sets", {
        params: { path: { dataset_id: datasetId }, query: { page, page_size: 100 } },
      }),
    );
    const found = items.find(({ id }) => id === setId);
    if (found !== undefined || !has_more) return found;
  }
  return undefined;
}

/** Ids of the files that are marked as reviewed in a set; what others have marked in the last minute may be missing. */
export const reviewedOf = (datasetId: string, setId: string) =>
  remembered(keyOfReviewed(setId), () => readReviewed(datasetId, setId));

export async function readReviewed(datasetId: string, setId: string): Promise<ReadonlySet<string>> {
  const path = { dataset_id: datasetId, annotation_set_id: setId };
  const items = await allItems((query) =>
    api.GET("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/reviewed", {
      params: { path, query },
    }),
  );
  return new Set(items.map(({ audio_file_id: id }) => id));
}

/**
 * The files that can be labelled, oldest first: all, or those that were created at this time or later. It ends when they are
 * not wanted any more.
 */
export async function* readyFiles(
  datasetId: string,
  created_after?: string,
  isWanted = () => true,
): AsyncGenerator<AudioFile> {
  let from: { cursor?: string; created_after?: string } =
    created_after === undefined ? {} : { created_after };
  while (isWanted()) {
    // Without a filter by status, for which the service would count the files of the dataset for each page.
    const answer = await api.GET("/api/v1/datasets/{dataset_id}/audio", {
      params: {
        path: { dataset_id: datasetId },
        query: { ...from, page_size: 100, order: "asc" },
      },
    });
    const { items } = await body(Promise.resolve(answer));
    yield* items.filter(({ status }) => status === "ready");
    const cursor = answer.response.headers.get("X-Next-Cursor");
    if (cursor === null) return;
    from = { cursor };
  }
}

export async function setReviewed(
  { datasetId, setId, fileId }: { datasetId: string; setId: string; fileId: string },
  isReviewed: boolean,
): Promise<void> {
  const params = {
    path: { dataset_id: datasetId, annotation_set_id: setId, audio_file_id: fileId },
  };
  const path =
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/reviewed/{audio_file_id}" as const;
  await body<unknown>(isReviewed ? api.PUT(path, { params }) : api.DELETE(path, { params }));
  const key = keyOfReviewed(setId);
  const before = known.get(key);
  if (before === undefined) return;
  // The list of a large set is not read again for each mark.
  const value = (before.value as Promise<ReadonlySet<string>>).then((ids) => {
    const others = [...ids].filter((id) => id !== fileId);
    return new Set(isReviewed ? [...others, fileId] : others);
  });
  known.set(key, { ...before, value });
  value.catch(() => known.delete(key));
}
