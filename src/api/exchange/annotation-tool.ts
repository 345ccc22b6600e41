// The labelling tool's JSON document: one task for each audio file that has labels, times
// in seconds. People's labels are `annotations`; a model's detections are `predictions`, which the tool shows as
// suggestions.
import {
  type Format,
  type Region,
  type RegionFile,
  type Regions,
  seconds,
  type WriteOptions,
} from "./format.ts";

export const annotationTool: Format = {
  contentType: "application/json; charset=utf-8",
  extension: "json",
  example: "",
  write: writeTasks,
};

/** Yields pieces that are smaller than a task, because one file may have a million labels. */
async function* writeTasks(regions: Regions, options: WriteOptions): AsyncGenerator<string> {
  yield '{"tasks":[';
  let number = 0;
  let file: RegionFile | undefined;
  for await (const batch of regions) {
    const pieces: string[] = [];
    for (const region of batch) {
      if (region.file.id === file?.id) pieces.push(",");
      else {
        if (file !== undefined) pieces.push(`${tailOf(options)},`);
        file = region.file;
        number += 1;
        pieces.push(await headOf(number, file, options));
      }
      pieces.push(toResult(region, options));
    }
    yield pieces.join("");
  }
  yield file === undefined ? "]}" : `${tailOf(options)}]}`;
}

/** Returns the JSON of a task up to its first result. */
async function headOf(number: number, file: RegionFile, options: WriteOptions): Promise<string> {
  const data = {
    audio: await options.audioOf(file),
    [options.kind === "annotation" ? "audio_file_id" : "inference_file_id"]: file.id,
    filename: file.filename,
  };
  const task = `{"id":${number},"data":${JSON.stringify(data)}`;
  return options.kind === "annotation"
    ? `${task},"annotations":[{"id":${number},"result":[`
    : `${task},"annotations":[],"predictions":[{"model_version":${JSON.stringify(options.modelName)},"result":[`;
}

/** Returns the JSON of a task after its last result. */
function tailOf(options: WriteOptions): string {
  if (options.kind === "detection") return "]}]}";
  const completedBy = options.flavor === "import" ? "" : '"completed_by":1,';
  return `],${completedBy}"was_cancelled":false,"ground_truth":false}]}`;
}

/** The tool displays `score`, and keeps `meta` unchanged, so that an export and a new import lose nothing. */
function toResult(region: Region, { kind }: WriteOptions): string {
  return JSON.stringify({
    id: region.id,
    from_name: "label",
    to_name: "audio",
    type: "labels",
    value: {
      start: Number(seconds(region.startMs)),
      end: Number(seconds(region.endMs)),
      channel: 0,
      labels: [region.type],
    },
    score: region.confidence,
    ...(kind === "annotation" ? metaOf(region) : {}),
  });
}

function metaOf({ extraData, annotator }: Region) {
  const meta = {
    ...(Object.keys(extraData).length > 0 ? { extra_data: extraData } : {}),
    ...(annotator === null ? {} : { annotator }),
  };
  return Object.keys(meta).length > 0 ? { meta } : {};
}
