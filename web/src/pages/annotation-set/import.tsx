// Imports labels of other tools into a draft. A trial run comes first: it says what would be added, and changes nothing.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AnnotationSet, AudioFile, ImportReport, TextImportReport } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { count, plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { uniqueName } from "../../app/unique.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { Checkbox, Select } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Shown } from "../../components/states.tsx";
import { notify } from "../../components/toast.tsx";
import { readyFiles } from "../../editor/files.ts";
import { formatOfName, type ImportFormat, importFormats } from "./import-format.ts";
import { pathOf, refreshSets } from "./set-dialogs.tsx";

type Report = ImportReport | TextImportReport;

const mostBytes = 8_388_608;
const shownErrors = 20;
/** More files are not offered for labels that name none. */
const mostFiles = 5_000;

interface Chosen {
  readonly name: string;
  readonly text: string;
}

async function send(
  set: AnnotationSet,
  format: ImportFormat,
  { text }: Chosen,
  options: { dryRun: boolean; createTypes: boolean; fileId: string; key: string },
): Promise<Report> {
  const query = { dry_run: options.dryRun, create_types: options.createTypes };
  const header = options.dryRun ? {} : { "Idempotency-Key": options.key };
  const params = { path: pathOf(set), query, header };
  const asText = (type: string) => ({
    bodySerializer: (given: string) => given,
    headers: { "Content-Type": type },
  });
  const base = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/import" as const;
  if (format === "annotation-tool")
    return await body(api.POST(`${base}/annotation-tool`, { params, body: JSON.parse(text) }));
  if (format === "csv")
    return await body(api.POST(`${base}/csv`, { params, body: text, ...asText("text/csv") }));
  return await body(
    api.POST(`${base}/audacity`, {
      params: { ...params, query: { ...query, audio_file_id: options.fileId } },
      body: text,
      ...asText("text/plain"),
    }),
  );
}

export function ImportLabels({
  set,
  file,
  onClose,
}: {
  set: AnnotationSet;
  /** The file that the labels are for; undefined: the document names its files. */
  file?: AudioFile;
  onClose: () => void;
}) {
  const [format, setFormat] = useState<ImportFormat>(file === undefined ? "csv" : "audacity");
  const [chosen, setChosen] = useState<Chosen>();
  const [tooLarge, setFault] = useState<string>();
  const [createTypes, setCreateTypes] = useState(false);
  const [fileId, setFileId] = useState(file?.id ?? "");
  const [report, setReport] = useState<Report>();
  const key = useMemo(uniqueName, [chosen, format, createTypes, fileId]);
  const asked = useRef(key);
  asked.current = key;
  const newest = useRef<File | undefined>(undefined);
  const isBroken = useMemo(
    () => format === "annotation-tool" && chosen !== undefined && !isJson(chosen.text),
    [format, chosen],
  );
  const fault = tooLarge ?? (isBroken ? "The file is no JSON." : undefined);
  const needsFile = format === "audacity";
  const isReady = chosen !== undefined && fault === undefined && (!needsFile || fileId !== "");
  useEffect(() => setReport(undefined), [chosen, format, createTypes, fileId]);

  const choose = async (given: File | undefined) => {
    setChosen(undefined);
    setFault(undefined);
    newest.current = given;
    if (given === undefined) return;
    if (given.size > mostBytes) return setFault("An import has at most 8 MiB. Split the file.");
    const text = await given.text();
    // Another file has been chosen while this one was read.
    if (newest.current !== given) return;
    const guess = file === undefined ? formatOfName(given.name) : "audacity";
    if (guess !== undefined) setFormat(guess);
    setChosen({ name: given.name, text });
  };
  const submit = async () => {
    if (chosen === undefined) return;
    const options = { createTypes, fileId, key };
    if (report === undefined) {
      const checked = await send(set, format, chosen, { ...options, dryRun: true });
      // A report about other settings would let these be imported unchecked.
      if (asked.current === key) setReport(checked);
      return;
    }
    const done = await send(set, format, chosen, { ...options, dryRun: false });
    notify(
      `Imported ${plural(done.imported, "annotation")}${done.skipped > 0 ? `, skipped ${done.skipped}` : ""}`,
    );
    await refreshSets(set);
    onClose();
  };
  return (
    <FormDialog
      title={file === undefined ? "Import annotations" : `Import labels of ${file.filename}`}
      action={report === undefined ? "Check the file" : `Import ${plural(report.imported, "annotation")}`}
      attempted={report === undefined ? "Checking the file" : "Importing the annotations"}
      submit={submit}
      onClose={onClose}
      isReady={isReady && (report === undefined || report.imported > 0)}
    >
      <div class="field">
        <label for="import-file">File</label>
        <input
          id="import-file"
          type="file"
          accept=".json,.csv,.tsv,.txt"
          aria-describedby={fault === undefined ? undefined : "import-fault"}
          onChange={(event) => void choose(event.currentTarget.files?.[0])}
        />
        {fault !== undefined && (
          <p class="fault" id="import-fault">
            <Icon name="error" size={14} />
            <span>{fault}</span>
          </p>
        )}
      </div>
      {file === undefined && (
        <Select
          label="Format"
          value={format}
          onValue={(next) => setFormat(importFormats.find(([id]) => id === next)?.[0] ?? "csv")}
        >
          {importFormats.map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      )}
      {needsFile && file === undefined && <FileChoice set={set} value={fileId} onValue={setFileId} />}
      <Checkbox
        label="Add artifact types that the dataset does not have"
        hint="Otherwise their labels are skipped."
        isChecked={createTypes}
        onValue={setCreateTypes}
      />
      {report !== undefined && <ReportView report={report} />}
    </FormDialog>
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function FileChoice({
  set,
  value,
  onValue,
}: {
  set: AnnotationSet;
  value: string;
  onValue: (id: string) => void;
}) {
  const resource = useResource(`files-to-label/${set.dataset_id}`, () => oldestFiles(set.dataset_id));
  return (
    <Shown resource={resource} what="the audio files" lines={1}>
      {(files) => (
        <Select
          label="Audio file of the labels"
          value={value}
          onValue={onValue}
          hint={
            files.length === mostFiles
              ? `Only the oldest ${count(mostFiles)} files. A later one has its own import in the list of the set's files.`
              : undefined
          }
        >
          <option value="">Choose a file</option>
          {files.map(({ id, filename }) => (
            <option key={id} value={id}>
              {filename}
            </option>
          ))}
        </Select>
      )}
    </Shown>
  );
}

async function oldestFiles(datasetId: string): Promise<readonly AudioFile[]> {
  const files: AudioFile[] = [];
  for await (const file of readyFiles(datasetId)) if (files.push(file) === mostFiles) break;
  return files;
}

function ReportView({ report }: { report: Report }) {
  const { imported, skipped, created_types: types, errors } = report;
  return (
    <div class={`notice ${imported === 0 ? "warn" : "accent"}`} role="status">
      <Icon name={imported === 0 ? "warning" : "info"} />
      <div class="stack-tight">
        <p>
          {plural(imported, "annotation")} would be added, {plural(skipped, "label")} skipped
          {skipped > errors.length && ` (${skipped - errors.length} the set has already)`}.
          {types.length > 0 && ` New types: ${types.join(", ")}.`}
        </p>
        {errors.length > 0 && (
          <ul class="small break">
            {errors.slice(0, shownErrors).map((error, i) => (
              <li key={i}>
                {"line" in error ? `Line ${error.line}` : `Task ${error.task + 1}`}: {error.message}
              </li>
            ))}
            {errors.length > shownErrors && <li>and {errors.length - shownErrors} more</li>}
          </ul>
        )}
      </div>
    </div>
  );
}
