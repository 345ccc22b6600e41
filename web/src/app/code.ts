// Shows a request as a command and as a program, for the drawer "API calls". Pure.

export interface ApiCall {
  readonly method: string;
  /** As the description has it: "/api/v1/datasets/{dataset_id}". */
  readonly path: string;
  readonly params: {
    readonly path?: Readonly<Record<string, unknown>>;
    readonly query?: Readonly<Record<string, unknown>>;
    readonly header?: Readonly<Record<string, unknown>>;
  };
  readonly body?: unknown;
}

/** The path with its parameters and the query. */
export function addressOf({ path, params }: ApiCall): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encode(String(params.path?.[name] ?? "")));
  const query = Object.entries(params.query ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((item) => item !== undefined && item !== null)
      .map((item) => `${encode(name)}=${encode(String(item))}`),
  );
  return filled + (query.length === 0 ? "" : `?${query.join("&")}`);
}

/** A command for a shell with the key in $API_KEY. */
export function curlOf(call: ApiCall, serviceUrl: string): string {
  const lines = [`-H "X-API-Key: $API_KEY"`];
  if (call.method !== "GET" && (call.method !== "POST" || call.body === undefined))
    lines.unshift(`-X ${call.method}`);
  for (const [name, value] of headersOf(call)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (call.body !== undefined) lines.push(`--json ${quoted(JSON.stringify(call.body))}`);
  lines.push(quoted(serviceUrl + addressOf(call)));
  return `curl ${lines.join(" \\\n  ")}`;
}

/** A program with the typed client. */
export function clientCodeOf(call: ApiCall, serviceUrl: string): string {
  const { path, query } = call.params;
  const header = Object.fromEntries(headersOf(call));
  const params = withoutEmpty({ path, query, header });
  const init = withoutEmpty({ params, body: call.body });
  const argument = init === undefined ? "" : `, ${literal(init)}`;
  return [
    `import { env } from "node:process";`,
    `import { body, makeClient } from "./client/client.ts";`,
    "",
    "const client = makeClient({",
    `  baseUrl: ${JSON.stringify(serviceUrl)},`,
    "  apiKey: env.API_KEY,",
    "});",
    `const result = await body(client.${call.method}(${JSON.stringify(call.path)}${argument}));`,
  ].join("\n");
}

const headersOf = ({ params }: ApiCall) =>
  Object.entries(params.header ?? {}).filter(([, value]) => value !== undefined && value !== null);

function withoutEmpty(value: Record<string, unknown>): Record<string, unknown> | undefined {
  const members = Object.entries(value).filter(
    ([, member]) =>
      member !== undefined &&
      !(typeof member === "object" && member !== null && Object.keys(member).length === 0),
  );
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** A JavaScript literal as a formatter would write it: on one line if it is short. */
function literal(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const items = isList
    ? value.map((item) => [item, ""] as const)
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(
          ([name, item]) =>
            [item, /^[A-Za-z_$][\w$]*$/.test(name) ? `${name}: ` : `${JSON.stringify(name)}: `] as const,
        );
  if (items.length === 0) return open + close;
  const short = items.map(([item, name]) => name + literal(item, indent)).join(", ");
  const line = isList ? `[${short}]` : `{ ${short} }`;
  if (line.length < 72 && !line.includes("\n")) return line;
  const long = items.map(([item, name]) => `${inner}${name}${literal(item, inner)},\n`).join("");
  return `${open}\n${long}${indent}${close}`;
}

/** encodeURIComponent, and what has a meaning for a shell or in a quotation too. */
const encode = (text: string) =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Quoted for a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
