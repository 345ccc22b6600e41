// Cases: invalid values of headers with their own semantics, each on an operation that uses the header.
import type { HostileCase } from "../case.ts";

const dataset = "/api/v1/datasets/{dataset_id}";
const body = '{"name":"x"}';

const keys: readonly (readonly [name: string, value: string])[] = [
  ["no characters", ""],
  ["256 characters", "k".repeat(256)],
  ["8,000 characters", "k".repeat(8_000)],
];

const tags: readonly (readonly [name: string, value: string])[] = [
  ["another revision", '"0"'],
  ["no quotes", "abc"],
  ["an unclosed quote", '"abc'],
  ["a weak tag", 'W/"abc"'],
  ["a list of other tags", '"a", "b", W/"c"'],
  ["commas", ",,,"],
  ["a star in quotes", '"*"'],
  ["SQL", "' or 1=1--"],
  ["8,000 characters", `"${"a".repeat(8_000)}"`],
  ["a list of 2,000 tags", '"a",'.repeat(2_000)],
];
const guarded: readonly (readonly [method: string, path: string, sent?: string])[] = [
  ["PATCH", dataset, body],
  ["DELETE", dataset],
  ["POST", `${dataset}/annotation-sets/{annotation_set_id}/publish`],
  ["DELETE", `${dataset}/annotation-sets/{annotation_set_id}`],
  ["PATCH", `${dataset}/annotation-sets/{annotation_set_id}/annotations/{annotation_id}`, "{}"],
  ["PATCH", "/api/v1/models/{model_id}", body],
];

const positions = ["x", "-1", "1.5", "1e3", "9".repeat(40), "' or 1=1", "0x10", "\u00b2", "1 2"];

export const ruleCases: readonly HostileCase[] = [
  ...keys.map(([name, value]) => ({
    name: `an Idempotency-Key of ${name}`,
    request: {
      method: "POST",
      path: "/api/v1/datasets",
      body,
      headers: [["Idempotency-Key", value]] as const,
    },
    status: 422,
    code: "",
    loc: ["header", "Idempotency-Key"],
  })),
  ...guarded.flatMap(([method, path, sent]) =>
    tags.map(([name, value]) => ({
      name: `${method} ${path} with an If-Match of ${name}`,
      request: {
        method,
        path,
        ...(sent === undefined ? {} : { body: sent }),
        headers: [["If-Match", value]] as const,
      },
      status: 412,
      code: "",
    })),
  ),
  ...positions.map((value) => ({
    name: `a stream from the event ${value}`,
    request: {
      method: "GET",
      path: "/api/v1/events/stream",
      headers: [["Last-Event-ID", value]] as const,
    },
    status: 422,
    code: "",
    loc: ["header", "Last-Event-ID"],
  })),
];
