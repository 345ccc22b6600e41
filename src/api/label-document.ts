// The label tool's export document, in pieces: one task for each audio file that has annotations (interface
// specification 2.9). Times are seconds; the sound is a signed URL that lives a day.
import { type AnnotationRow, eachAnnotation } from "../db/annotation.ts";
import { namesOfAudio } from "../db/audio-file.ts";
import { audioKey } from "../storage/keys.ts";
import type { HandlerDeps } from "./route.ts";

const urlSeconds = 24 * 3600;

interface Place {
  readonly tenantId: string;
  readonly datasetId: string;
  readonly setId: string;
}

interface Options {
  readonly flavor: "full" | "import";
  readonly audio: "url" | "key";
}

/** Annotations arrive ordered by file, so that one task is in memory at a time. */
export async function* labelDocument(
  deps: HandlerDeps,
  place: Place,
  options: Options,
): AsyncGenerator<string> {
  yield '{"tasks":[';
  let number = 0;
  for await (const { audioFileId, filename, rows } of byAudioFile(deps, place)) {
    number += 1;
    const task = {
      id: number,
      data: {
        audio: await audioOf(deps, place.tenantId, audioFileId, filename, options.audio),
        audio_file_id: audioFileId,
        filename,
      },
      annotations: [
        {
          id: number,
          result: rows.map(toResult),
          ...(options.flavor === "full" ? { completed_by: 1 } : {}),
          was_cancelled: false,
          ground_truth: false,
        },
      ],
    };
    yield (number === 1 ? "" : ",") + JSON.stringify(task);
  }
  yield "]}";
}

interface Group {
  readonly audioFileId: string;
  readonly filename: string;
  readonly rows: AnnotationRow[];
}

async function* byAudioFile(deps: HandlerDeps, place: Place): AsyncGenerator<Group> {
  let group: Group | undefined;
  for await (const batch of eachAnnotation(deps.db, place.tenantId, place.setId)) {
    const ids = [...new Set(batch.map((row) => row.audio_file_id))];
    const names = await namesOfAudio(deps.db, place.tenantId, place.datasetId, ids);
    for (const row of batch) {
      if (row.audio_file_id !== group?.audioFileId) {
        if (group !== undefined) yield group;
        group = { audioFileId: row.audio_file_id, filename: names.get(row.audio_file_id) ?? "", rows: [] };
      }
      group.rows.push(row);
    }
  }
  if (group !== undefined) yield group;
}

async function audioOf(
  deps: HandlerDeps,
  tenantId: string,
  id: string,
  filename: string,
  form: "url" | "key",
): Promise<string> {
  if (form === "key") return id;
  const key = audioKey(tenantId, id);
  return await deps.storage.presignGet(key, { expiresSeconds: urlSeconds, filename, audience: "client" });
}

function toResult(row: AnnotationRow) {
  return {
    id: row.id,
    from_name: "label",
    to_name: "audio",
    type: "labels",
    value: {
      start: row.start_ms / 1000,
      end: row.end_ms / 1000,
      channel: 0,
      labels: [row.artifact_type],
    },
  };
}
