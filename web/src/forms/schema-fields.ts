// Form fields for numbers, derived from the schemas of the REST description: bounds, defaults and help. Pure.

/** The parts of a property's schema that a form needs. */
export interface PropertySchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly PropertySchema[];
}

export interface NumberField {
  readonly name: string;
  readonly label: string;
  readonly help: string;
  readonly isInteger: boolean;
  readonly min: number;
  readonly max: number;
  /** What the service uses if the field is empty; undefined: the service decides by other means. */
  readonly fallback: number | undefined;
}

/** The properties that are numbers, in the order of the description. */
export function numberFields(properties: Readonly<Record<string, PropertySchema>>): readonly NumberField[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    // A property that may be null is a choice of two schemas.
    const { type, minimum, maximum } = schema.anyOf?.find((part) => part.type !== "null") ?? schema;
    if (type !== "integer" && type !== "number") return [];
    return {
      name,
      label: labelOf(name),
      help: schema.description ?? "",
      isInteger: type === "integer",
      min: minimum ?? Number.NEGATIVE_INFINITY,
      max: maximum ?? Number.POSITIVE_INFINITY,
      fallback: typeof schema.default === "number" ? schema.default : undefined,
    };
  });
}

const units: Readonly<Record<string, string>> = { ms: "ms", seconds: "s" };

/** "chunk_size_ms" is "Chunk size (ms)". */
export function labelOf(name: string): string {
  const parts = name.split("_");
  const unit = units[parts.at(-1) ?? ""];
  const text = (unit === undefined ? parts : parts.slice(0, -1)).join(" ");
  const label = text.charAt(0).toUpperCase() + text.slice(1);
  return unit === undefined ? label : `${label} (${unit})`;
}

/** Help, bounds and default in words. A bound that no number reaches is none. */
export function hintOf({ help, min, max, fallback }: NumberField): string {
  const has = { min: Number.isFinite(min), max: max < Number.MAX_SAFE_INTEGER };
  const bounds =
    has.min && has.max
      ? `From ${min} to ${max}`
      : has.min
        ? `At least ${min}`
        : has.max
          ? `At most ${max}`
          : "";
  const standard = fallback === undefined ? "" : `${bounds === "" ? "By" : "by"} default ${fallback}`;
  const numbers = [bounds, standard].filter((text) => text !== "").join("; ");
  return [help, numbers]
    .filter((text) => text !== "")
    .map((text) => `${text}.`)
    .join(" ");
}

/** The number that was typed; undefined for an empty field. A text names the fault. */
export function readNumber(field: NumberField, text: string): number | undefined | string {
  const typed = text.trim();
  if (typed === "") return undefined;
  const value = Number(typed.replace(",", "."));
  if (!Number.isFinite(value)) return "Enter a number.";
  if (field.isInteger && !Number.isSafeInteger(value)) return "Enter a whole number.";
  if (value < field.min) return `At least ${field.min}.`;
  if (value > field.max) return `At most ${field.max}.`;
  return value;
}

/** The values of all fields that are filled in, and the faults of the others. */
export function readNumbers(
  fields: readonly NumberField[],
  texts: Readonly<Record<string, string>>,
): { values: Readonly<Record<string, number>>; faults: Readonly<Record<string, string>> } {
  const values: Record<string, number> = {};
  const faults: Record<string, string> = {};
  for (const field of fields) {
    const read = readNumber(field, texts[field.name] ?? "");
    if (typeof read === "string") faults[field.name] = read;
    else if (read !== undefined) values[field.name] = read;
  }
  return { values, faults };
}
