// The number fields of a form that schema-fields.ts derives from the REST description.
import { TextField } from "../components/field.tsx";
import { hintOf, type NumberField } from "./schema-fields.ts";

export function NumberFields({
  fields,
  texts,
  faults,
  onTexts,
}: {
  fields: readonly NumberField[];
  texts: Readonly<Record<string, string>>;
  faults: Readonly<Record<string, string>>;
  onTexts: (texts: Readonly<Record<string, string>>) => void;
}) {
  return (
    <div class="form-grid">
      {fields.map((field) => (
        <TextField
          key={field.name}
          label={field.label}
          isOptional
          inputMode={field.isInteger ? "numeric" : "decimal"}
          placeholder={field.fallback === undefined ? undefined : String(field.fallback)}
          value={texts[field.name] ?? ""}
          onValue={(text) => onTexts({ ...texts, [field.name]: text })}
          hint={hintOf(field)}
          fault={faults[field.name]}
        />
      ))}
    </div>
  );
}
