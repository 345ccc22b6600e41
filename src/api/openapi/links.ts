// Links from a 201 response to the operations on the new resource and on the resources below it. API test tools follow
// them to test whole life cycles. Called by answers.ts.
import type { Route } from "../route.ts";
import type { Json } from "./schema.ts";

/** POSTs whose new resource is not below their own path, or whose response has its id in another member than `id`. */
const special: Record<string, { path: string; ids: Record<string, string> }> = {
  "/api/v1/datasets/{dataset_id}/audio/upload-url": {
    path: "/api/v1/datasets/{dataset_id}/audio/{audio_file_id}",
    ids: { audio_file_id: "audio_file_id" },
  },
  "/api/v1/datasets/{dataset_id}/audio/upload-urls": {
    path: "/api/v1/datasets/{dataset_id}/audio/{audio_file_id}",
    ids: { audio_file_id: "items/0/audio_file_id" },
  },
  "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations/bulk": {
    path: "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations/{annotation_id}",
    ids: { annotation_id: "items/0/id" },
  },
  "/api/v1/inference-jobs/{inference_job_id}/files/upload-urls": {
    path: "/api/v1/inference-jobs/{inference_job_id}/files/{file_id}",
    ids: { file_id: "items/0/inference_file_id" },
  },
  "/api/v1/inference-jobs/{inference_job_id}/files/upload-url": {
    path: "/api/v1/inference-jobs/{inference_job_id}/files/{file_id}",
    ids: { file_id: "inference_file_id" },
  },
  "/api/v1/inference-jobs/{inference_job_id}/to-annotation-set": {
    path: "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}",
    ids: { dataset_id: "dataset_id", annotation_set_id: "id" },
  },
  "/api/v1/training-jobs/{training_job_id}/retry": {
    path: "/api/v1/training-jobs/{training_job_id}",
    ids: { training_job_id: "id" },
  },
  "/api/v1/inference-jobs/{inference_job_id}/retry": {
    path: "/api/v1/inference-jobs/{inference_job_id}",
    ids: { inference_job_id: "id" },
  },
  "/api/v1/webhooks/{webhook_id}/test": {
    path: "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}",
    ids: { delivery_id: "id" },
  },
  "/api/v1/auth/api-keys/{key_id}/rotate": {
    path: "/api/v1/auth/api-keys/{key_id}",
    ids: { key_id: "id" },
  },
};

export function linksOf(route: Route, routes: readonly Route[]): Json {
  const created = special[route.path] ?? below(route, routes);
  if (created === undefined) return {};
  return Object.fromEntries(
    routes
      .filter((other) => other.path === created.path || isIn(other.path, created.path))
      .map((other) => [
        other.operationId,
        { operationId: other.operationId, parameters: parameters(other, created.ids) },
      ]),
  );
}

/** A POST to a collection creates the resource `collection/{id}`, and its response has the `id`. */
function below(route: Route, routes: readonly Route[]) {
  const item = new RegExp(`^${escaped(route.path)}/\\{(\\w+)\\}$`);
  for (const other of routes) {
    const id = item.exec(other.path)?.[1];
    if (id !== undefined) return { path: other.path, ids: { [id]: "id" } as Record<string, string> };
  }
  return undefined;
}

/** Whether `other` is below `path` and has no further parameters. */
function isIn(other: string, path: string): boolean {
  return other.startsWith(`${path}/`) && !other.slice(path.length).includes("{");
}

/** The ids of the new resource come from the response, the ids of its parents from the request. */
function parameters(route: Route, ids: Readonly<Record<string, string>>): Json {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  return Object.fromEntries(
    names.map((name) => [
      name,
      ids[name] === undefined ? `$request.path.${name}` : `$response.body#/${ids[name]}`,
    ]),
  );
}

const escaped = (text: string) => text.replace(/[{}/.]/g, "\\$&");
