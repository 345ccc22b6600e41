// Reads the labelling tool's tasks, from this API's own export or from the tool's. The document is untrusted input. No
// address in it is fetched; only the file name at its end is used. Called by src/api/routes/exchange-import.ts.
import { z } from "zod";
import type { LabelTask } from "../../schemas/exchange.ts";
import type { AudioReference, ImportEntry } from "./format.ts";

const result = z.object({
  type: z.literal("labels"),
  value: z.object({ start: z.number(), end: z.number(), labels: z.array(z.string()).min(1) }),
  score: z.number().nullish(),
  // z.unknown and not z.record: a record would be copied, and the copy would silently lose a member named __proto__.
  meta: z.object({ extra_data: z.unknown(), annotator: z.unknown() }).partial().nullish(),
});

/**
 * Yields every label of every task. Skips cancelled annotations. If a task has ground truth annotations, yields only
 * those.
 */
export function* readTasks(tasks: readonly LabelTask[]): Generator<ImportEntry> {
  for (const [i, task] of tasks.entries()) {
    const finished = (task.annotations ?? []).filter((annotation) => annotation.was_cancelled !== true);
    const trusted = finished.filter((annotation) => annotation.ground_truth === true);
    const results = (trusted.length > 0 ? trusted : finished).flatMap(
      (annotation) => annotation.result ?? [],
    );
    const audio = audioOf(task);
    if (audio.ids.length === 0 && audio.filenames.length === 0) {
      const problem = "The task names no audio file; data needs audio_file_id, filename or audio";
      yield { at: { task: i, result: null }, problem, count: results.length };
      continue;
    }
    for (const [j, line] of results.entries()) yield* readResult(line, audio, { task: i, result: j });
  }
}

function* readResult(
  value: unknown,
  audio: AudioReference,
  at: { task: number; result: number },
): Generator<ImportEntry> {
  const parsed = result.safeParse(value);
  if (!parsed.success) {
    yield { at, problem: problemOf(value) };
    return;
  }
  const { value: place, score, meta } = parsed.data;
  for (const type of place.labels) {
    const line = {
      audio,
      type,
      startMs: milliseconds(place.start),
      endMs: milliseconds(place.end),
      confidence: score ?? 1,
      extraData: meta?.extra_data ?? {},
      annotator: meta?.annotator,
    };
    yield { at, line };
  }
}

function problemOf(value: unknown): string {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  return type !== undefined && type !== "labels"
    ? "Only results of type labels are imported"
    : "The result must have a value with start and end in seconds and labels";
}

/** Rounds, because the tool computes in floating point. `+ 0` turns -0 into 0. */
const milliseconds = (seconds: number) => Math.round(seconds * 1000) + 0;

/** Collects the candidates for the task's audio file: ids first, then file names. */
function audioOf({ data, file_upload }: LabelTask): AudioReference {
  const audio = textOf(data?.audio);
  const named = textOf(data?.filename);
  const ids = [textOf(data?.audio_file_id), audio === undefined ? undefined : lastSegment(audio)];
  const filenames = [
    named,
    ...[audio, textOf(file_upload)].flatMap((address) => {
      const name = address === undefined ? undefined : lastSegment(address);
      // The tool prefixes the names of uploaded files with eight hexadecimal digits and a hyphen.
      return name === undefined ? [] : [name, name.replace(/^[0-9a-f]{8}-/, "")];
    }),
  ];
  return { ids: ids.filter(isGuid), filenames: [...new Set(filenames.filter(isName))] };
}

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/** A name of an audio file has at most 255 characters, of two UTF-16 units each. All batches of the task have copies. */
const isName = (text: string | undefined): text is string => text !== undefined && text.length <= 510;

const isGuid = (text: string | undefined): text is string => z.guid().safeParse(text).success;

/** Returns the file name at the end of a path or URL. For the tool's local files, the path is in the parameter d. */
function lastSegment(address: string): string | undefined {
  const [path = "", query] = address.split("#")[0]?.split("?") ?? [];
  const local = path.endsWith("/local-files/") ? new URLSearchParams(query).get("d") : null;
  const name = (local ?? path).split("/").at(-1) ?? "";
  try {
    return local === null ? decodeURIComponent(name) || undefined : name || undefined;
  } catch {
    return name || undefined;
  }
}
