// The OpenAPI description is complete and consistent, and equals the committed file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeOpenApi } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes/index.ts";
import { errorCodes } from "../../src/schemas/error-code.ts";

// biome-ignore lint/suspicious/noExplicitAny: the test reads a document of any shape.
const document = makeOpenApi(routes) as any;
interface Link {
  readonly operationId: string;
  readonly parameters: Record<string, string>;
}
interface OneResponse {
  readonly $ref?: string;
  readonly headers?: Record<string, unknown>;
  readonly content?: Record<string, { example?: unknown }>;
  readonly links?: Record<string, Link>;
}
interface Operation {
  readonly path: string;
  readonly method: string;
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Record<string, OneResponse>;
  readonly parameters?: { name?: string; in?: string; $ref?: string }[];
  readonly security?: unknown[];
}
const operations = Object.entries(document.paths as Record<string, Record<string, object>>).flatMap(
  ([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, ...operation }) as Operation),
);

describe("the OpenAPI description", () => {
  it("is OpenAPI 3.1.0 with document version 0.1.0 and the key in X-API-Key", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("0.1.0");
    expect(document.components.securitySchemes).toEqual({
      "X-API-Key": { type: "apiKey", in: "header", name: "X-API-Key" },
    });
  });

  it("equals the committed openapi.json, which `make gen` writes", () => {
    const committed = JSON.parse(readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8"));
    expect(JSON.parse(JSON.stringify(document))).toEqual(committed);
  });

  it("has every route once, each with its own id and summary", () => {
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      routes.map((route) => `${route.method.toLowerCase()} ${route.path}`).sort(),
    );
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const operation of operations) expect(operation.summary).toMatch(/^[A-Z].{10,}$/);
  });

  it("has every endpoint that clients rely on", () => {
    const named = [
      "post /api/v1/training-jobs",
      "get /api/v1/training-jobs",
      "get /api/v1/inference-jobs",
      "patch /api/v1/models/{model_id}",
      "get /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}",
      "post /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/publish",
      "get /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations",
      "get /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export/annotation-tool",
      "post /api/v1/auth/api-keys",
      "get /api/v1/auth/api-keys",
      "delete /api/v1/auth/api-keys/{key_id}",
      "get /api/v1/datasets/{dataset_id}/audio",
    ];
    const present = operations.map(({ method, path }) => `${method} ${path}`);
    expect(named.filter((operation) => !present.includes(operation))).toEqual([]);
  });

  it("gives each resource the members that clients rely on", () => {
    const members = (name: string) => Object.keys(document.components.schemas[name].properties);
    const trainingJob =
      "id tenant_id dataset_id annotation_set_id config status status_message progress_percent metrics error_message platform_job_name created_at queued_at started_at completed_at".split(
        " ",
      );
    expect(members("TrainingJob")).toEqual(trainingJob);
    expect(document.components.schemas.TrainingJob.required).toEqual(trainingJob);
    const listed: [string, string][] = [
      [
        "Model",
        "id tenant_id training_job_id name description artifact_types object_store_key model_size_bytes architecture eval_metrics is_active created_at archived_at",
      ],
      [
        "InferenceJob",
        "id tenant_id model_id config status total_files processed_files failed_files total_detections error_message created_at started_at completed_at",
      ],
      [
        "AnnotationSet",
        "id dataset_id version status total_annotations total_positive_duration_ms annotations_by_type created_at published_at",
      ],
      [
        "Annotation",
        "id annotation_set_id audio_file_id artifact_type start_ms end_ms confidence extra_data created_at",
      ],
      ["ApiKey", "id name key_prefix scopes created_at expires_at last_used_at"],
      ["Dataset", "id name artifact_types created_at updated_at"],
    ];
    for (const [name, names] of listed)
      expect(members(name)).toEqual(expect.arrayContaining(names.split(" ")));
    expect(members("ApiKey")).not.toContain("key");
    expect(members("AnnotationSetDetail")).toContain("annotations");
  });

  it("has no dangling reference and no unused schema", () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      (match) => match[1] as string,
    );
    for (const ref of refs) {
      const found = ref.split("/").reduce((value, step) => value?.[step], document);
      expect(found, ref).toBeDefined();
    }
    const names = Object.keys(document.components.schemas).map((name) => `components/schemas/${name}`);
    expect(names.filter((name) => !refs.includes(name))).toEqual([]);
  });

  it("declares the key and the errors of every operation that requires a key", () => {
    for (const operation of operations) {
      const open = operation.security !== undefined;
      const isPublic = !operation.path.startsWith("/api/") || operation.path.endsWith("/openapi.json");
      expect(open, operation.path).toBe(isPublic);
      if (!open)
        expect(Object.keys(operation.responses)).toEqual(
          expect.arrayContaining(["401", "403", "429", "500", "503"]),
        );
      if (operation.path.includes("{"))
        expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["404", "422"]));
      const places = (operation.parameters ?? []).filter((p) => p.in === "path");
      expect(places.map((p) => `{${p.name}}`)).toEqual(operation.path.match(/\{\w+\}/g) ?? []);
    }
  });

  it("has examples of bodies and answers that match the service's own schemas", () => {
    for (const route of routes) {
      const operation = document.paths[route.path][route.method.toLowerCase()];
      const name = route.operationId;
      if (route.body !== undefined) {
        const [media] = Object.values(operation.requestBody.content) as { example: unknown }[];
        // Rules that only the service can check (a time in the future, existing ids) are not part of this test.
        expect(route.body.safeParse(media?.example).error?.issues ?? [], name).toEqual([]);
      }
      if (route.answer.schema !== undefined) {
        const media = Object.values(operation.responses[route.answer.status].content)[0] as {
          example: unknown;
        };
        expect(route.answer.schema.safeParse(media.example).error?.issues ?? [], name).toEqual([]);
      }
    }
  });

  it("has a limit for every string and every array of a request or an answer", () => {
    const unlimited: string[] = [];
    const visit = (value: unknown, where: string) => {
      if (typeof value !== "object" || value === null) return;
      const { type, enum: words, const: word, maxLength, maxItems } = value as Record<string, unknown>;
      const types = [type].flat();
      if (types.includes("string") && words === undefined && word === undefined && maxLength === undefined)
        unlimited.push(where);
      if (types.includes("array") && maxItems === undefined) unlimited.push(where);
      for (const [name, member] of Object.entries(value))
        if (!["example", "examples", "default", "enum"].includes(name)) visit(member, `${where}/${name}`);
    };
    visit({ paths: document.paths, components: document.components }, "");
    expect(unlimited).toEqual([]);
  });

  it("declares the headers that each operation reads and sends", () => {
    for (const route of routes) {
      const operation = document.paths[route.path][route.method.toLowerCase()] as Operation;
      const takes = (operation.parameters ?? [])
        .map(({ $ref }) => $ref?.split("/").at(-1) ?? "")
        .filter((name) => ["IdempotencyKey", "IfMatch", "IfNoneMatch"].includes(name));
      const expected = [
        ...(route.idempotent ? ["IdempotencyKey"] : []),
        ...(route.guard ? ["IfMatch"] : []),
        ...(route.conditional ? ["IfNoneMatch"] : []),
      ];
      expect(takes, route.operationId).toEqual(expected);
      const success = operation.responses[String(route.answer.status)];
      const sends = Object.keys(success?.headers ?? {});
      expect(sends).toContain("X-Request-Id");
      expect(sends.includes("Location"), route.operationId).toBe(route.answer.status === 201);
      expect(sends.includes("ETag"), route.operationId).toBe(Boolean(route.conditional || route.guard));
      expect("304" in operation.responses).toBe(Boolean(route.conditional));
      expect("412" in operation.responses).toBe(Boolean(route.guard));
    }
  });

  it("links every new resource to its further operations, with all ids that they need", () => {
    const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
    const making = operations.filter((operation) => "201" in operation.responses);
    for (const operation of making) {
      const links = Object.values(operation.responses["201"]?.links ?? {});
      expect(links.length, operation.operationId).toBeGreaterThan(0);
      for (const link of links) {
        const target = byId.get(link.operationId);
        const ids = (target?.path.match(/\{\w+\}/g) ?? []).map((name) => name.slice(1, -1));
        expect(Object.keys(link.parameters), link.operationId).toEqual(ids);
        for (const source of Object.values(link.parameters)) {
          const name = /^\$request\.path\.(\w+)$/.exec(source)?.[1];
          if (name === undefined) expect(source).toMatch(/^\$response\.body#\//);
          else expect(operation.path).toContain(`{${name}}`);
        }
      }
    }
  });

  it("lists every error code, and the code of each conflict is in the list", () => {
    expect(document.components.schemas.ErrorCode.enum).toEqual([...errorCodes]);
    expect([...errorCodes]).toEqual([...errorCodes].sort());
    for (const route of routes)
      for (const code of route.conflicts ?? []) expect(errorCodes, route.operationId).toContain(code);
  });
});
