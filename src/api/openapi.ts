// Makes the OpenAPI 3.1.0 description from the table of routes and their zod schemas, the same schemas that validate
// requests. Served at /openapi.json, and written to the file openapi.json by src/gen. The folder openapi/ makes its
// parts.
import { sharedResponses } from "./openapi/answers.ts";
import { headerParameters, headers } from "./openapi/headers.ts";
import { introduction, tags } from "./openapi/introduction.ts";
import { operationOf } from "./openapi/operation.ts";
import type { Components, Json } from "./openapi/schema.ts";
import type { Route } from "./route.ts";

/** Makes the document. Deterministic: the same routes give the same document, byte for byte. */
export function makeOpenApi(routes: readonly Route[]): Json {
  const schemas: Components = {};
  const responses = sharedResponses(schemas);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operationOf(route, routes, schemas);
    paths[route.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Plosive",
      // Of the interface, not of the release.
      version: "0.1.0",
      description: introduction,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This installation, local or production", "x-internal": false }],
    security: [{ "X-API-Key": [] }],
    tags,
    paths,
    components: {
      securitySchemes: { "X-API-Key": { type: "apiKey", in: "header", name: "X-API-Key" } },
      headers,
      parameters: headerParameters,
      responses,
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}
