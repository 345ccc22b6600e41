// The effective settings of a job. Their names and values are those of the REST API.
import { labelOf } from "../forms/schema-fields.ts";

export function Settings({ config }: { config: Readonly<Record<string, unknown>> }) {
  const known = Object.entries(config).filter(([, value]) => !isEmpty(value));
  if (known.length === 0) return <p class="muted small">Everything is left to the model.</p>;
  return (
    <dl class="settings-list">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{labelOf(name)}</dt>
          <dd class="break number">{textOf(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

const isEmpty = (value: unknown) =>
  value === null || (typeof value === "object" && Object.keys(value).length === 0);

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value === "object" && value !== null)
    return Object.entries(value)
      .map(([name, part]) => `${name} ${textOf(part)}`)
      .join(", ");
  return String(value);
}
