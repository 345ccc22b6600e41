// The label tool's document (interface specification 2.9): one task for each audio file that has labels, times in
// seconds. Labels of people are `annotations`, those of a model `predictions`, which the tool shows as suggestions.
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
  oneFile: false,
  example: "",
  write: writeTasks,
};

/** In pieces smaller than a task: one file may have a million labels. */
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

/** The task up to its first result. */
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

/** From behind the last result to the end of the task. */
function tailOf(options: WriteOptions): string {
  if (options.kind === "detection") return "]}]}";
  const completedBy = options.flavor === "full" ? '"completed_by":1,' : "";
  return `],${completedBy}"was_cancelled":false,"ground_truth":false}]}`;
}

/** `score` is shown by the tool; `meta` it keeps as it is, so that nothing is lost on the way there and back. */
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
    ...(kind === "annotation" && Object.keys(region.extraData).length > 0
      ? { meta: { extra_data: region.extraData } }
      : {}),
  });
}
