// Chooses recordings of a dataset: all that are ready, or some of them.
import { useEffect, useState } from "preact/hooks";
import { api, body } from "../../app/api.ts";
import { clock, count, plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { Checkbox, SearchField, Select } from "../../components/field.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { useDatasets } from "../../jobs/names.ts";

export interface FileChoice {
  readonly datasetId: string;
  /** Undefined: all files that are ready. */
  readonly fileIds: readonly string[] | undefined;
}

const page_size = 100;

export function DatasetFiles({ onChoice }: { onChoice: (choice: FileChoice | undefined) => void }) {
  const datasets = useDatasets();
  const asked = query.value.get("dataset") ?? "";
  return (
    <Shown resource={datasets} what="the datasets" lines={2}>
      {({ items }) => (
        <div class="stack">
          <Select label="Dataset" value={asked} onValue={(dataset) => setQuery({ dataset })}>
            <option value="">Choose a dataset</option>
            {items.map(({ id, name, audio_file_count: files }) => (
              <option key={id} value={id}>
                {name} ({plural(files, "file")})
              </option>
            ))}
          </Select>
          {asked !== "" && <Files key={asked} datasetId={asked} onChoice={onChoice} />}
        </div>
      )}
    </Shown>
  );
}

function Files({
  datasetId,
  onChoice,
}: {
  datasetId: string;
  onChoice: (choice: FileChoice | undefined) => void;
}) {
  const [areAll, setAll] = useState(true);
  const [filename, setFilename] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const request = { status: "ready" as const, page_size, ...(filename === "" ? {} : { filename }) };
  const files = useResource(
    `dataset/${datasetId}/audio/ready?${filename}`,
    () =>
      body(
        api.GET("/api/v1/datasets/{dataset_id}/audio", {
          params: { path: { dataset_id: datasetId }, query: request },
        }),
      ),
    ({ type, data }) => type.startsWith("audio_file.") && data.dataset_id === datasetId,
  );
  const isEmpty = files.data?.total === 0 && filename === "";
  useEffect(() => {
    onChoice(isEmpty ? undefined : { datasetId, fileIds: areAll ? undefined : [...chosen] });
    return () => onChoice(undefined);
  }, [datasetId, areAll, chosen, isEmpty]);
  const toggle = (id: string, isChecked: boolean) => {
    const next = new Set(chosen);
    if (isChecked) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <Shown resource={files} what="the audio files" lines={3}>
      {({ items, total }) =>
        isEmpty ? (
          <Empty isSmall title="The dataset has no files that are ready">
            <p>Upload recordings to it, or wait until they are decoded.</p>
          </Empty>
        ) : (
          <fieldset class="choices">
            <legend>Files</legend>
            <label class="check-line">
              <input type="radio" name="which" checked={areAll} onChange={() => setAll(true)} />
              All that are ready
              {filename === "" && <span class="faint number">{count(total)}</span>}
            </label>
            <label class="check-line">
              <input type="radio" name="which" checked={!areAll} onChange={() => setAll(false)} />
              Only some
              {!areAll && chosen.size > 0 && <span class="faint number">{plural(chosen.size, "file")}</span>}
            </label>
            {!areAll && (
              <div class="choices-inner">
                <SearchField label="Search by file name" value={filename} onValue={setFilename} />
                {items.map(({ id, filename: name, duration_ms: ms }) => (
                  <Checkbox
                    key={id}
                    label={
                      <>
                        <span class="break">{name}</span>{" "}
                        {ms !== null && <span class="faint number">{clock(ms)}</span>}
                      </>
                    }
                    isChecked={chosen.has(id)}
                    onValue={(isChecked) => toggle(id, isChecked)}
                  />
                ))}
                {total > items.length && (
                  <p class="hint">
                    The newest {count(items.length)} of {count(total)}; search to find others.
                  </p>
                )}
              </div>
            )}
          </fieldset>
        )
      }
    </Shown>
  );
}
