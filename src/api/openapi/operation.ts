// One operation of the description, made from its route. Called by openapi.ts.
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

/** What the route says itself, and what follows from its kind. */
function descriptionOf(route: Route): string {
  return [
    route.description ?? `${route.summary}.`,
    route.auth === false ? "Needs no key." : "",
    route.maxBodyBytes === undefined ? "" : `The body may have ${route.maxBodyBytes / 2 ** 20} MiB.`,
    route.idempotent ? "Takes an Idempotency-Key." : "",
    route.guard ? "With If-Match nothing is changed that you have not seen." : "",
    route.conditional ? "Polling costs little with If-None-Match." : "",
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
