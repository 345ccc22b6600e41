// How labels of one file are read and saved: the requests behind autosave.ts.
import type { Annotation } from "../../../client/schema.ts";
import { onceApi, versioned } from "../app/api.ts";
import type { Steps } from "./autosave.ts";
import type { Saved } from "./merge.ts";
import type { Region } from "./region.ts";
import { judge } from "./verdict.ts";

export interface Place {
  readonly datasetId: string;
  readonly setId: string;
  readonly fileId: string;
}

export const savedOf = (annotation: Annotation): Saved => ({
  id: annotation.id,
  region: {
    key: annotation.id,
    type: annotation.artifact_type,
    startMs: annotation.start_ms,
    endMs: annotation.end_ms,
    confidence: annotation.confidence,
    annotator: annotation.annotator,
    extraData: annotation.extra_data,
  },
});

const membersOf = ({ type, startMs, endMs, confidence, annotator, extraData }: Region) => ({
  artifact_type: type,
  start_ms: startMs,
  end_ms: endMs,
  confidence,
  annotator,
  extra_data: { ...extraData },
});

const setPath = ({ datasetId, setId }: Place) => ({ dataset_id: datasetId, annotation_set_id: setId });

/** All labels of a file, or of a set, with the ETag that changes of the set need. */
export async function readLabels(place: Place): Promise<{ theirs: readonly Saved[]; etag: string }> {
  const { value, etag } = await versioned(
    onceApi.GET("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations", {
      params: { path: setPath(place), query: { audio_file_id: place.fileId } },
    }),
  );
  return { theirs: value.map(savedOf), etag: etag ?? "" };
}

export function stepsOf(place: Place): Steps {
  const base = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations" as const;
  const params = (etag: string) => ({ path: setPath(place), header: { "If-Match": etag } });
  const etagAfter = (etag: string | undefined) => ({ etag: etag ?? "" });
  return {
    async create(regions, etag) {
      const answer = await withSetEtag(
        onceApi.POST(`${base}/bulk`, {
          params: params(etag),
          body: {
            annotations: regions.map((region) => ({ audio_file_id: place.fileId, ...membersOf(region) })),
          },
        }),
      );
      return { ids: answer.value.items.map(({ id }) => id), ...etagAfter(answer.etag) };
    },
    async change(changes, etag) {
      const annotations = changes.map(({ id, region }) => ({ id, ...membersOf(region) }));
      const call = onceApi.PATCH(`${base}/bulk`, { params: params(etag), body: { annotations } });
      return etagAfter((await withSetEtag(call)).etag);
    },
    async remove(ids, etag) {
      const call = onceApi.POST(`${base}/bulk/delete`, { params: params(etag), body: { ids: [...ids] } });
      return etagAfter((await withSetEtag(call)).etag);
    },
    read: () => readLabels(place),
    judge,
    pause: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener("abort", () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

/** Changes answer with the ETag of the set in a header of its own. */
async function withSetEtag<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>) {
  const answer = await call;
  const { value } = await versioned(Promise.resolve(answer));
  return { value, etag: answer.response.headers.get("X-Annotation-Set-ETag") ?? undefined };
}
