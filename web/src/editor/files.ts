// The files of a set: which are reviewed, and which one comes next. nextUnreviewed() is pure; the rest reads the service.
import type { AnnotationSet, AudioFile } from "../../../client/schema.ts";
import { allItems } from "../../../client/client.ts";
import { api, body } from "../app/api.ts";

/** More files are not searched for the next one. */
const mostPages = 50;

/** The first file after the present one that is not reviewed; from the beginning if there is none behind it. */
export function nextUnreviewed(
  files: readonly string[],
  reviewed: ReadonlySet<string>,
  present: string,
): string | undefined {
  const at = files.indexOf(present);
  return [...files.slice(at + 1), ...files.slice(0, Math.max(0, at))].find((id) => !reviewed.has(id));
}

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

/** Ids of the files that are marked as reviewed in a set. */
export async function readReviewed(datasetId: string, setId: string): Promise<ReadonlySet<string>> {
  const path = { dataset_id: datasetId, annotation_set_id: setId };
  const items = await allItems((query) =>
    api.GET("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/reviewed", {
      params: { path, query },
    }),
  );
  return new Set(items.map(({ audio_file_id: id }) => id));
}

/** The files that can be labelled, oldest first. */
export async function readFiles(datasetId: string): Promise<readonly AudioFile[]> {
  const files: AudioFile[] = [];
  for (let page = 1; page <= mostPages; page++) {
    const found = await body(
      api.GET("/api/v1/datasets/{dataset_id}/audio", {
        params: {
          path: { dataset_id: datasetId },
          query: { page, page_size: 100, order: "asc", status: "ready" },
        },
      }),
    );
    files.push(...found.items);
    if (!found.has_more) break;
  }
  return files;
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
}
