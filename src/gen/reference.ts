// Makes the pages of docs/reference from the schemas: the operations of the REST interface, its errors, and the fields of the
// custom resources. Called by main.ts.
import { errorMeanings } from "../schemas/error-code.ts";
import { group, type Kind } from "../schemas/kind.ts";
import { crdOf } from "./crd.ts";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

export interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly tags: readonly string[]; readonly summary: string }>>>
  >;
}

const note = "<!-- Written by `make gen`. Do not edit. -->\n\n";

/** All operations by tag, then all errors. */
export function restReference({ tags, paths }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([
        method,
        {
          tags: [tag],
          summary,
        },
      ]) => ({
        tag,
        row: [code(`${method.toUpperCase()} ${path}`), summary],
      }),
    ),
  );
  const unnamed = operations.find(({ tag }) => !tags.some(({ name }) => name === tag));
  if (unnamed !== undefined) throw new Error(`the tag ${unnamed.tag} has no description`);
  const sections = tags.map(({ name, description = "" }) => {
    const rows = operations.filter(({ tag }) => tag === name).map(({ row }) => row);
    return `## ${name}\n\n${plain(description)}\n\n${table(["operation", "what it does"], rows)}`;
  });
  const errors = Object.entries(errorMeanings).map(([name, meaning]) => [code(name), meaning]);
  return [
    "# The REST interface",
    "Every installation serves the whole description at `/openapi.json`, with the fields of all requests and responses, and an interactive page at `/docs`. [requests.md](../requests.md) has the rules that all requests share.",
    ...sections,
    "## Errors",
    "An error response has a sentence for people in `detail` and one of these words in `code`. With status 422, `detail` is the list of all faults.",
    table(["code", "meaning"], errors),
  ].join("\n\n");
}

/** The fields of spec and status of each kind. */
export function resourceReference(kinds: readonly Kind[]): string {
  const sections = kinds.map((kind) => {
    const { spec } = crdOf(kind) as {
      spec: { versions: [{ schema: { openAPIV3Schema: Schema } }] };
    };
    const { properties = {} } = spec.versions[0].schema.openAPIV3Schema;
    const part = (name: string) => {
      const schema = properties[name] ?? {};
      return `### ${name} of ${kind.kind}\n\n${table(["field", "type", "meaning"], fieldsOf(schema, ""))}`;
    };
    return [
      `## ${kind.kind}`,
      `${plain(kind.description)}\n\nShort name: ${code(kind.shortName)}.`,
      part("spec"),
      part("status"),
    ].join("\n\n");
  });
  return [
    "# The custom resources",
    `All are in the API group ${code(group)}. \`kubectl explain\` shows the same text. [kubectl.md](../kubectl.md) has examples, [jobs.md](../jobs.md) the phases, conditions and failures.`,
    ...sections,
  ].join("\n\n");
}

function fieldsOf({ properties = {}, required = [] }: Schema, path: string): string[][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const here = `${path}${name}`;
    const facts = [
      required.includes(name) ? "required" : "",
      schema.default === undefined ? "" : `default ${code(JSON.stringify(schema.default))}`,
      schema.enum === undefined ? "" : `one of ${schema.enum.map((value) => code(String(value))).join(", ")}`,
    ].filter((fact) => fact !== "");
    const meaning = [schema.description ?? "", ...facts].filter((text) => text !== "").join("; ");
    const [below, place] = insideOf(schema, here);
    return [[code(here), typeOf(schema), meaning], ...fieldsOf(below, `${place}.`)];
  });
}

/** The schema of what a list or a map contains, and its place. */
function insideOf(schema: Schema, place: string): [Schema, string] {
  if (schema.items !== undefined) return insideOf(schema.items, `${place}[]`);
  if (typeof schema.additionalProperties === "object")
    return insideOf(schema.additionalProperties, `${place}{}`);
  return [schema, place];
}

function typeOf({ type = "", items, additionalProperties }: Schema): string {
  if (type === "array") return `list of ${typeOf(items ?? {})}`;
  if (typeof additionalProperties === "object") return `map of ${typeOf(additionalProperties)}`;
  return type;
}

const code = (text: string) => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells
      .map((cell) =>
        plain(cell)
          .replaceAll("|", "\\|")
          .replaceAll(/\s*\n\s*/g, " "),
      )
      .join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}

/** Outside of code, Markdown would take these for elements, and the site for expressions. */
const plain = (text: string) =>
  text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith("`") ? part : part.replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;"),
    )
    .join("");

export const page = (text: string) => `${note}${text}\n`;
