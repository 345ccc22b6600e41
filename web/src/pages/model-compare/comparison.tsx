// The comparison itself: how often the two agree, per type and per file, and each difference to listen to.
import type { Model } from "../../../../client/schema.ts";
import { count, plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { oneOf, sorted } from "../../app/table-state.ts";
import { type Tally, tallies, toleranceMs } from "../../compare/pairing.ts";
import { Fact } from "../../components/fact.tsx";
import { Select } from "../../components/field.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage, useSort } from "../../components/table.tsx";
import { nameOf } from "../../jobs/names.ts";
import { exactly, stretchOf } from "../../listening/filter.ts";
import { PlayButton } from "../../listening/play-button.tsx";
import { recordingOf } from "../../listening/recording.ts";
import { type Compared, type Heard, loadComparison, mostDetections } from "./load-comparison.ts";

type Models = { readonly items: readonly Model[] } | undefined;

export function Comparison({ a, b, models }: { a: string; b: string; models: Models }) {
  const compared = useResource(`compared/${a}/${b}`, () => loadComparison(a, b));
  return (
    <Shown resource={compared} what="the detections of both jobs" lines={6}>
      {(data) =>
        data === "too-many" ? (
          <Empty isSmall title="The jobs have too many detections to compare here">
            <p>
              Up to {count(mostDetections)} together can be compared. Let both models search fewer files, or
              set a higher threshold.
            </p>
          </Empty>
        ) : data.files.size === 0 ? (
          <Empty isSmall title="The two jobs have no file in common">
            <p>
              Choose two jobs that searched the same audio files of a dataset, or the same uploaded files.
            </p>
          </Empty>
        ) : (
          <Tables
            data={data}
            nameA={`A: ${nameOf(models, data.a.model_id)}`}
            nameB={`B: ${nameOf(models, data.b.model_id)}`}
          />
        )
      }
    </Shown>
  );
}

const tallyColumns = (header: string): readonly Column<Tally>[] => [
  { id: "name", header, isFlexible: true, cell: ({ name }) => <span class="strong break">{name}</span> },
  { id: "matched", header: "Both", isNumber: true, cell: ({ matched }) => count(matched) },
  { id: "onlyA", header: "Only A", isNumber: true, cell: ({ onlyA }) => count(onlyA) },
  { id: "onlyB", header: "Only B", isNumber: true, cell: ({ onlyB }) => count(onlyB) },
  {
    id: "agreement",
    header: "Agreement",
    isNumber: true,
    cell: ({ agreement }) => (agreement === null ? "–" : `${Math.round(agreement * 100)} %`),
  },
];

function Tables({ data, nameA, nameB }: { data: Compared; nameA: string; nameB: string }) {
  const { pairing, files } = data;
  const byFile = tallies(pairing, ({ file }) => file).map((tally) => ({
    ...tally,
    name: files.get(tally.name) ?? tally.name,
    key: tally.name,
  }));
  const { matched, onlyA, onlyB } = pairing;
  return (
    <div class="stack-wide">
      <section aria-labelledby="per-type">
        <h2 id="per-type" class="section-title">
          Per type, in {plural(files.size, "shared file")}
        </h2>
        <p class="muted small versus">
          <span class="break">{nameA}</span> <span aria-hidden="true">/</span>{" "}
          <span class="break">{nameB}</span>
        </p>
        <dl class="facts">
          <Fact name="Both found" value={count(matched.length)} />
          <Fact name="Only A" value={count(onlyA.length)} />
          <Fact name="Only B" value={count(onlyB.length)} />
        </dl>
        <Table
          caption="Agreement per type"
          columns={tallyColumns("Type")}
          rows={tallies(pairing, ({ type }) => type)}
          keyOf={({ name }) => name}
        />
        <p class="small muted hint-below">
          Two detections of one type agree if they overlap or lie at most {toleranceMs} ms apart.
        </p>
      </section>
      <Differences data={data} />
      {byFile.length > 1 && (
        <details class="more">
          <summary>Per file</summary>
          <Table
            caption="Agreement per file"
            columns={tallyColumns("File")}
            rows={byFile}
            keyOf={({ key }) => key}
          />
        </details>
      )}
    </div>
  );
}

interface Difference {
  readonly side: "A" | "B";
  readonly found: Heard;
}

const pageSize = 50;

const columns: readonly Column<Difference>[] = [
  {
    id: "type",
    header: "Type",
    isFlexible: true,
    by: ({ found }) => found.type,
    cell: ({ side, found }) => (
      <span class="file-name">
        <PlayButton
          id={found.id}
          label={`${found.type} at ${exactly(found.startMs)}, found by ${side} only`}
          recording={recordingOf(found.source)}
          stretch={stretchOf({ start_ms: found.startMs, end_ms: found.endMs }, found.source.duration_ms)}
        />
        <span class="strong break">{found.type}</span>
      </span>
    ),
  },
  { id: "side", header: "Found by", by: ({ side }) => side, cell: ({ side }) => `Only ${side}` },
  {
    id: "file",
    header: "File",
    isFlexible: true,
    by: ({ found }) => found.source.filename,
    cell: ({ found }) => <span class="break">{found.source.filename}</span>,
  },
  {
    id: "start",
    header: "Start",
    isNumber: true,
    by: ({ found }) => found.startMs,
    cell: ({ found }) => exactly(found.startMs),
  },
  {
    id: "confidence",
    header: "Confidence",
    isNumber: true,
    descendsFirst: true,
    by: ({ found }) => found.confidence,
    cell: ({ found }) => found.confidence.toFixed(2),
  },
];

function Differences({ data: { pairing } }: { data: Compared }) {
  const side = oneOf(query.value.get("side"), ["A", "B"]);
  const page = usePage();
  const sort = useSort(
    columns.map(({ id }) => id),
    { column: "confidence", isDescending: true },
  );
  const all: readonly Difference[] = [
    ...(side === "B" ? [] : pairing.onlyA.map((found) => ({ side: "A" as const, found }))),
    ...(side === "A" ? [] : pairing.onlyB.map((found) => ({ side: "B" as const, found }))),
  ];
  const by = columns.find(({ id }) => id === sort.column)?.by;
  const ordered = by === undefined ? all : sorted(all, by, sort.isDescending);
  return (
    <section aria-labelledby="differences">
      <div class="row apart section-title">
        <h2 id="differences">Found by one only</h2>
        <span class="row">
          <Select
            label="Found by"
            isLabelHidden
            value={side ?? ""}
            onValue={(next) => setQuery({ side: next, page: undefined })}
          >
            <option value="">A or B</option>
            <option value="A">Only A</option>
            <option value="B">Only B</option>
          </Select>
          <Pager page={page} pageSize={pageSize} total={ordered.length} what="the differences" />
        </span>
      </div>
      {ordered.length === 0 ? (
        <Empty isSmall title="No differences" />
      ) : (
        <Table
          caption="Detections that only one of the two has"
          columns={columns}
          rows={ordered.slice((page - 1) * pageSize, page * pageSize)}
          keyOf={({ side: of, found }) => of + found.id}
          sort={sort}
          serverSorted={columns.map(({ id }) => id)}
        />
      )}
    </section>
  );
}
