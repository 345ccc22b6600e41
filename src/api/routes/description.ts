// /openapi.json and /api/v1/openapi.json: the OpenAPI description of all routes. No key needed. Called by index.ts,
// which passes its own table, so that this file does not import it.
import { z } from "zod";
import { routeNotFound } from "../../errors.ts";
import { makeOpenApi } from "../openapi.ts";
import { defineRoute, type Route } from "../route.ts";

/** The two routes. `allRoutes` is called on the first request, when the table is complete. */
export function descriptionRoutes(allRoutes: () => readonly Route[]): Route[] {
  // Built once and kept as bytes, so that all responses share one copy: clients without a key may ask for it and read slowly.
  let description: Buffer | undefined;
  const openApi = defineRoute("GET", "/openapi.json", {
    operationId: "getOpenApi",
    summary: "This description",
    auth: false,
    failures: [404],
    answer: { status: 200, description: "OpenAPI 3.1.0", schema: z.record(z.string(), z.unknown()) },
    handler: ({ deps }) => {
      if (!deps.config.PLOSIVE_DOCS_ENABLED) throw routeNotFound();
      description ??= Buffer.from(JSON.stringify(makeOpenApi(allRoutes())));
      return { body: description };
    },
  });
  // The versioned path keeps the description of version 1 when there is a version 2.
  return [openApi, { ...openApi, path: "/api/v1/openapi.json", operationId: "getOpenApiV1" }];
}
