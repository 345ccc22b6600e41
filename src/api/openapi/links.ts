// Links from a 201 response to the operations on the new resource and on the resources below it. API test tools follow
// them to test whole life cycles. Called by answers.ts.
import type { Route } from "../route.ts";
import type { Json } from "./schema.ts";

const audio = "/api/v1/datasets/{dataset_id}/audio";
const sets = "/api/v1/datasets/{dataset_id}/annotation-sets";
const files = "/api/v1/inference-jobs/{inference_job_id}/files";

/**
 * POSTs whose new resource is not below their own path, or whose response has its id in another member than `id`: the path
 * of the new resource, and the member that has its id.
 */
const special: Readonly<Record<string, readonly [path: string, id: string]>> = {
  [`${audio}/upload-url`]: [`${audio}/{audio_file_id}`, "audio_file_id"],
  [`${audio}/from-url`]: [`${audio}/{audio_file_id}`, "id"],
  [`${audio}/upload-urls`]: [`${audio}/{audio_file_id}`, "items/0/audio_file_id"],
  [`${sets}/{annotation_set_id}/annotations/bulk`]: [
    `${sets}/{annotation_set_id}/annotations/{annotation_id}`,
    "items/0/id",
  ],
  [`${files}/upload-urls`]: [`${files}/{file_id}`, "items/0/inference_file_id"],
  [`${files}/upload-url`]: [`${files}/{file_id}`, "inference_file_id"],
  "/api/v1/inference-jobs/{inference_job_id}/to-annotation-set": [`${sets}/{annotation_set_id}`, "id"],
  "/api/v1/training-jobs/{training_job_id}/retry": ["/api/v1/training-jobs/{training_job_id}", "id"],
  "/api/v1/inference-jobs/{inference_job_id}/retry": ["/api/v1/inference-jobs/{inference_job_id}", "id"],
  "/api/v1/webhooks/{webhook_id}/test": ["/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}", "id"],
  "/api/v1/auth/api-keys/{key_id}/rotate": ["/api/v1/auth/api-keys/{key_id}", "id"],
};

export function linksOf(route: Route, routes: readonly Route[]): Json {
  const [path, id] = special[route.path] ?? [below(route, routes), "id"];
  if (path === undefined) return {};
  return Object.fromEntries(
    routes
      .filter((other) => other.path === path || isIn(other.path, path))
      .map((other) => [
        other.operationId,
        { operationId: other.operationId, parameters: parameters(other, route, path, id) },
      ]),
  );
}

/** A POST to a collection creates the resource `collection/{id}`, and its response has the `id`. */
function below(route: Route, routes: readonly Route[]): string | undefined {
  return routes.find(({ path }) => path.endsWith("}") && path.slice(0, path.lastIndexOf("/")) === route.path)
    ?.path;
}

/** Whether `other` is below `path` and has no further parameters. */
function isIn(other: string, path: string): boolean {
  return other.startsWith(`${path}/`) && !other.slice(path.length).includes("{");
}

const namesIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);

/** The id of the new resource, which is the last one of its path, comes from the response; so do parents that the request does not name. */
function parameters(route: Route, request: Route, created: string, id: string): Json {
  const [own, given] = [namesIn(created).at(-1), namesIn(request.path)];
  return Object.fromEntries(
    namesIn(route.path).map((name) => {
      if (name === own) return [name, `$response.body#/${id}`];
      return [name, given.includes(name) ? `$request.path.${name}` : `$response.body#/${name}`];
    }),
  );
}
