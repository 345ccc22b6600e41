// The description of the API: complete, in itself consistent, and the one that is committed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeOpenApi } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: the test looks into a document of any shape.
const document = makeOpenApi(routes) as any;
interface Operation {
  readonly path: string;
  readonly method: string;
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Record<string, unknown>;
  readonly parameters?: { name: string; in: string }[];
  readonly security?: unknown[];
}
const operations = Object.entries(document.paths as Record<string, Record<string, object>>).flatMap(
  ([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, ...operation }) as Operation),
);

describe("the OpenAPI description", () => {
  it("is what the specification promises: 3.1.0, version 0.1.0, the key in X-API-Key", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("0.1.0");
    expect(document.components.securitySchemes).toEqual({
      "X-API-Key": { type: "apiKey", in: "header", name: "X-API-Key" },
    });
  });

  it("is the committed openapi.json: run `make gen`", () => {
    const committed = JSON.parse(readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8"));
    expect(JSON.parse(JSON.stringify(document))).toEqual(committed);
  });

  it("has every route once, with an id and a summary of its own", () => {
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      routes.map((route) => `${route.method.toLowerCase()} ${route.path}`).sort(),
    );
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const operation of operations) expect(operation.summary).toMatch(/^[A-Z].{10,}$/);
  });

  it("has every endpoint that the interface specification names", () => {
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

  it("gives each resource the members that the interface specification lists", () => {
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

  it("refers to nothing that it does not contain, and contains nothing that nobody refers to", () => {
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

  it("says for every closed operation that it needs a key, and how it fails", () => {
    for (const operation of operations) {
      const open = operation.security !== undefined;
      const tellsOfItself = !operation.path.startsWith("/api/") || operation.path.endsWith("/openapi.json");
      expect(open, operation.path).toBe(tellsOfItself);
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
});
