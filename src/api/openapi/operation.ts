// Makes one operation of the OpenAPI description from its route. Called by openapi.ts.
import type { z } from "zod";
import type { Route } from "../route.ts";
import { responsesOf } from "./answers.ts";
import { exampleOf } from "./example.ts";
import { headerParametersOf } from "./headers.ts";
import { type Components, type Json, schemaOf } from "./schema.ts";

export function operationOf(route: Route, routes: readonly Route[], components: Components): Json {
  const parameters = [
    ...parametersOf("path", route.params, components),
    ...parametersOf("query", route.query, components),
    ...headerParametersOf(route),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: descriptionOf(route),
    tags: [route.tag],
    ...(route.auth === false ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route, route.body, components) }),
    responses: responsesOf(route, routes, components),
  };
}

/** The route's own description, and sentences that follow from its options. */
function descriptionOf(route: Route): string {
  return [
    route.description ?? `${route.summary}.`,
    route.auth === false ? "Needs no API key." : "",
    route.maxBodyBytes === undefined ? "" : `The body may be up to ${route.maxBodyBytes / 2 ** 20} MiB.`,
    route.idempotent ? "Accepts an Idempotency-Key." : "",
    route.guard ? "Accepts If-Match, to avoid overwriting changes that you have not seen." : "",
    route.conditional ? "Accepts If-None-Match, for cheap polling." : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

function bodyOf(route: Route, body: z.ZodType, components: Components): Json {
  const schema = schemaOf(body, "input", components);
  const example = route.bodyExample ?? exampleOf(schema, components);
  return {
    required: route.bodyOptional !== true,
    content: { [route.bodyType ?? "application/json"]: { schema, example } },
  };
}

function parametersOf(
  place: "path" | "query",
  schema: z.ZodType | undefined,
  components: Components,
): Json[] {
  if (schema === undefined) return [];
  return Object.entries((schema as z.ZodObject).shape as Record<string, z.ZodType>).map(([name, member]) => {
    const { description, ...rest } = schemaOf(member, "input", components);
    return {
      name,
      in: place,
      required: place === "path" || !member.safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}
