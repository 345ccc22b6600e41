// The figures of a model per type, and which types it confuses.
import type { Model } from "../../../../client/schema.ts";
import { count } from "../../app/format.ts";
import { Badge } from "../../components/badge.tsx";
import { type Column, Table, useSort } from "../../components/table.tsx";
import { confusionOf, share, type TypeRow, typeRows } from "../../models/figures.ts";

const number = (
  id: "precision" | "recall" | "f1" | "ap" | "threshold" | "support" | "trainSupport",
  header: string,
  write: (value: number | null) => string = share,
): Column<TypeRow> => ({
  id,
  header,
  isNumber: true,
  descendsFirst: true,
  isExtra: id === "trainSupport" || id === "ap",
  by: (row) => row[id],
  cell: (row) => write(row[id]),
});

const whole = (value: number | null) => (value === null ? "–" : count(value));

const columns: readonly Column<TypeRow>[] = [
  {
    id: "type",
    header: "Type",
    isFlexible: true,
    by: ({ type }) => type,
    cell: ({ type, isRough }) => (
      <span class="row">
        <span class="strong break">{type}</span>
        {isRough && (
          <Badge tone="warn" title="Fewer than five events in the held-out files">
            Rough
          </Badge>
        )}
      </span>
    ),
  },
  number("precision", "Precision"),
  number("recall", "Recall"),
  number("f1", "F1"),
  number("ap", "Average precision"),
  number("threshold", "Threshold"),
  number("support", "Events measured", whole),
  number("trainSupport", "Events learned", whole),
];

export function TypeTable({ model }: { model: Model }) {
  const sort = useSort(
    columns.map(({ id }) => id),
    { column: "type", isDescending: false },
  );
  return (
    <section aria-labelledby="types">
      <h2 id="types" class="section-title">
        Per type
      </h2>
      <Table
        caption="Figures per type"
        columns={columns}
        rows={typeRows(model.artifact_types, model.eval_metrics)}
        keyOf={({ type }) => type}
        sort={sort}
      />
      <p class="small muted hint-below">
        The threshold is the lowest confidence that the model reports. An inference job can set others: a
        lower one finds more and errs more often.
      </p>
    </section>
  );
}

export function ConfusionTable({ model }: { model: Model }) {
  const matrix = confusionOf(model.artifact_types, model.eval_metrics);
  if (matrix === undefined) return null;
  return (
    <section aria-labelledby="confusion">
      <h2 id="confusion" class="section-title">
        What it takes for what
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys. */}
      <div class="confusion-box" tabIndex={0} role="region" aria-labelledby="confusion">
        <table class="plain-table confusion">
          <caption class="visually-hidden">
            For the labelled events of each type: how many overlap a detection of each type
          </caption>
          <thead>
            <tr>
              <th scope="col">Labelled as</th>
              {matrix.columns.map((name) => (
                <th key={name} scope="col" class="end break">
                  {name === "none" ? "Not found" : `Found as ${name}`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {matrix.rows.map(({ type, cells }) => (
              <tr key={type}>
                <th scope="row" class="break">
                  {type}
                </th>
                {cells.map(({ count: number, share: part }, i) => (
                  <td
                    key={matrix.columns[i]}
                    class={`number end ${matrix.columns[i] === type ? "right" : ""}`}
                    style={{ "--share": part }}
                  >
                    {count(number)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
