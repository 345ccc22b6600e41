// The effective settings of a job. Their names and values are those of the REST API.
import { Fragment } from "preact";
import { labelOf } from "../forms/schema-fields.ts";

export function Settings({ config }: { config: Readonly<Record<string, unknown>> }) {
  const known = Object.entries(config).filter(([, value]) => !isEmpty(value));
  if (known.length === 0) return <p class="muted small">Everything is left to the model.</p>;
  return (
    <dl class="settings-list">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{labelOf(name)}</dt>
          <dd class="break number">
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const isEmpty = (value: unknown) =>
  value === null || (typeof value === "object" && Object.keys(value).length === 0);

function Value({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null) return <bdi>{String(value)}</bdi>;
  return Object.entries(value).map(([name, part], i) => (
    <Fragment key={name}>
      {i > 0 && ", "}
      {!Array.isArray(value) && (
        <>
          <bdi>{name}</bdi>{" "}
        </>
      )}
      <Value value={part} />
    </Fragment>
  ));
}
