// How far the labels of two sets agree, such as those of two annotators: per type what both have, what only one has, F1.
import { useState } from "preact/hooks";
import { allItems } from "../../../../client/client.ts";
import type { AnnotationSet } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { count, plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { Select } from "../../components/field.tsx";
import { Empty, Problem, Shown } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { type Agreement, agreementOf, type Span } from "../../editor/agreement.ts";
import { wordsOf } from "../../editor/times.ts";

/** Larger sets would take the memory of the page. */
const mostAnnotations = 50_000;
const shownDifferences = 50;

async function spansOf(datasetId: string, setId: string): Promise<readonly Span[]> {
  const all = await body(
    api.GET("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations", {
      params: { path: { dataset_id: datasetId, annotation_set_id: setId } },
    }),
  );
  return all.map((label) => ({
    fileId: label.audio_file_id,
    type: label.artifact_type,
    startMs: label.start_ms,
    endMs: label.end_ms,
  }));
}

export function AgreementView({ set }: { set: AnnotationSet }) {
  const other = query.value.get("with") ?? "";
  const sets = useResource(`dataset/${set.dataset_id}/sets/all`, () =>
    allItems((query) =>
      api.GET("/api/v1/datasets/{dataset_id}/annotation-sets", {
        params: { path: { dataset_id: set.dataset_id }, query },
      }),
    ),
  );
  const choices = sets.data?.filter(({ id }) => id !== set.id) ?? [];
  const chosen = choices.find(({ id }) => id === other);
  return (
    <div class="agreement">
      {sets.error !== undefined && (
        <Problem attempted="Loading the annotation sets" error={sets.error} onRetry={sets.reload} />
      )}
      <Select
        label="Compare with"
        value={other}
        onValue={(next) => setQuery({ with: next })}
        hint="Two people label the same files in a set each. Files that only one of them has labelled count as differences."
      >
        <option value="">Choose a set</option>
        {choices.map(({ id, version, status, total_annotations: total }) => (
          <option key={id} value={id}>
            Version {version} ({status}, {plural(total, "annotation")})
          </option>
        ))}
      </Select>
      {chosen !== undefined &&
        (Math.max(set.total_annotations, chosen.total_annotations) > mostAnnotations ? (
          <Empty isSmall title="The sets are too large to compare here">
            <p>The browser compares sets of up to {count(mostAnnotations)} annotations.</p>
          </Empty>
        ) : (
          <Compared a={set} b={chosen} />
        ))}
    </div>
  );
}

function Compared({ a, b }: { a: AnnotationSet; b: AnnotationSet }) {
  const agreement = useResource(`set/${a.id}/agreement/${b.id}`, async () => {
    const [ofA, ofB] = await Promise.all([spansOf(a.dataset_id, a.id), spansOf(b.dataset_id, b.id)]);
    return agreementOf(ofA, ofB);
  });
  return (
    <Shown resource={agreement} what="the annotations of both sets">
      {(types) =>
        types.length === 0 ? (
          <Empty isSmall title="Both sets are empty" />
        ) : (
          <>
            <Table
              caption={`Agreement of version ${a.version} with version ${b.version}`}
              columns={columnsOf(a, b)}
              rows={types}
              keyOf={({ type }) => type}
            />
            <Differences a={a} b={b} types={types} />
          </>
        )
      }
    </Shown>
  );
}

const columnsOf = (a: AnnotationSet, b: AnnotationSet): readonly Column<Agreement<Span>>[] => [
  { id: "type", header: "Type", isFlexible: true, cell: ({ type }) => <span class="break">{type}</span> },
  { id: "matched", header: "In both", isNumber: true, cell: ({ matched }) => count(matched.length) },
  {
    id: "a",
    header: `Only in version ${a.version}`,
    isNumber: true,
    cell: ({ onlyA }) => count(onlyA.length),
  },
  {
    id: "b",
    header: `Only in version ${b.version}`,
    isNumber: true,
    cell: ({ onlyB }) => count(onlyB.length),
  },
  { id: "f1", header: "F1", isNumber: true, cell: ({ f1 }) => f1.toFixed(2) },
];

function Differences({
  a,
  b,
  types,
}: {
  a: AnnotationSet;
  b: AnnotationSet;
  types: readonly Agreement<Span>[];
}) {
  const [most, setMost] = useState(shownDifferences);
  const all = types.flatMap(({ onlyA, onlyB }) => [
    ...onlyA.map((span) => ({ span, set: a })),
    ...onlyB.map((span) => ({ span, set: b })),
  ]);
  if (all.length === 0) return null;
  all.sort((x, y) =>
    x.span.fileId < y.span.fileId ? -1 : x.span.fileId > y.span.fileId ? 1 : x.span.startMs - y.span.startMs,
  );
  return (
    <section aria-labelledby="differences">
      <h2 id="differences" class="section-title">
        Differences
      </h2>
      <ul class="small">
        {all.slice(0, most).map(({ span, set }) => (
          <li key={`${set.id}${span.fileId}${span.type}${span.startMs}-${span.endMs}`}>
            <a
              class="link"
              href={href(
                `/datasets/${a.dataset_id}/sets/${set.id}/files/${span.fileId}?at=${Math.round(span.startMs)}`,
              )}
            >
              <bdi>{span.type}</bdi>
              {wordsOf("", span.startMs, span.endMs)}
            </a>{" "}
            <span class="muted">only in version {set.version}</span>
          </li>
        ))}
      </ul>
      {all.length > most && (
        <button type="button" class="link plain" onClick={() => setMost(most * 4)}>
          Show more of {count(all.length)}
        </button>
      )}
    </section>
  );
}
