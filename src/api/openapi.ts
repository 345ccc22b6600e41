// The OpenAPI 3.1.0 description, made from the table of routes and their zod schemas: what is validated is what is
// described. Served at /openapi.json and written to openapi.json by src/gen.
import { z } from "zod";
import { errorBody, validationErrorBody } from "../schemas/rest.ts";
import type { Route } from "./route.ts";

type Json = Record<string, unknown>;

/** The same routes give the same document, byte for byte. */
export function makeOpenApi(routes: readonly Route[]): Json {
  const components: Record<string, Json> = {};
  const responses = sharedResponses(components);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operation(route, components);
    paths[route.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Plosive",
      version: "0.1.0",
      description: "Finds artifacts in voice audio: datasets, annotations, training and inference.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This service" }],
    security: [{ "X-API-Key": [] }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { "X-API-Key": { type: "apiKey", in: "header", name: "X-API-Key" } },
      responses,
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operation(route: Route, components: Record<string, Json>): Json {
  const parameters = [
    ...parametersOf("path", route.params, components),
    ...parametersOf("query", route.query, components),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    ...(route.auth === false ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.bodyOptional !== true,
            content: {
              [route.bodyType ?? "application/json"]: {
                schema: schemaOf(route.body, "input", components),
                ...(route.bodyExample === undefined ? {} : { example: route.bodyExample }),
              },
            },
          },
        }),
    responses: responsesOf(route, components),
  };
}

/** Answers that are the same everywhere; operations refer to them. */
const shared: Record<number, [name: string, description: string]> = {
  400: ["BadRequest", "The request is not well formed"],
  401: ["Unauthorized", "The key is missing, invalid, revoked or expired"],
  403: ["Forbidden", "The account is suspended"],
  404: ["NotFound", "There is no such resource"],
  413: ["BodyTooLarge", "The body is too large"],
  415: ["UnsupportedMediaType", "The body is not of the content type that the operation takes"],
  422: ["ValidationFailed", "Fields of the request are invalid"],
  429: ["TooManyRequests", "Too many requests, or a quota is used up"],
  500: ["InternalError", "Something broke in the service"],
  503: ["Unavailable", "The service cannot work at the moment; try again after the time in Retry-After"],
};

function failure(description: string, schema: z.ZodType, components: Record<string, Json>): Json {
  return {
    description,
    content: { "application/json": { schema: schemaOf(schema, "output", components) } },
  };
}

function sharedResponses(components: Record<string, Json>): Json {
  return Object.fromEntries(
    Object.entries(shared).map(([status, [name, description]]) => [
      name,
      failure(description, status === "422" ? validationErrorBody : errorBody, components),
    ]),
  );
}

function responsesOf(route: Route, components: Record<string, Json>): Json {
  const { answer } = route;
  const content =
    answer.schema === undefined ? {} : { content: contentOf(answer, answer.schema, components) };
  const location = {
    headers: { Location: { description: "Where the new resource is", schema: { type: "string" } } },
  };
  const takesInput = route.params !== undefined || route.query !== undefined || route.body !== undefined;
  const failures = [
    ...(route.body === undefined ? [] : [400, 413, 415]),
    ...(route.auth === false ? [] : [401, 403, 429, 500, 503]),
    ...(route.params !== undefined || route.notFound ? [404] : []),
    ...(takesInput ? [422] : []),
    ...(route.failures ?? []),
  ];
  const conflict = `The request does not fit the present state: ${route.conflicts?.join(", ")}`;
  return {
    [answer.status]: {
      description: answer.description,
      ...(answer.status === 201 ? location : {}),
      ...content,
    },
    ...(route.conflicts === undefined ? {} : { 409: failure(conflict, errorBody, components) }),
    ...Object.fromEntries(
      failures.map((status) => [status, { $ref: `#/components/responses/${shared[status]?.[0]}` }]),
    ),
  };
}

function contentOf(answer: Route["answer"], schema: z.ZodType, components: Record<string, Json>): Json {
  const plain = (type: string) => type.split(";")[0] ?? "";
  const texts = Object.entries(answer.texts ?? {}).map(([type, example]) => [
    plain(type),
    { schema: { type: "string" }, example },
  ]);
  const main = {
    schema: schemaOf(schema, "output", components),
    ...(answer.example === undefined ? {} : { example: answer.example }),
  };
  return { [plain(answer.contentType ?? "application/json")]: main, ...Object.fromEntries(texts) };
}

function parametersOf(
  place: "path" | "query",
  schema: z.ZodType | undefined,
  components: Record<string, Json>,
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

/** A reference for a schema with an id, the schema itself otherwise. Fills `components`. */
function schemaOf(schema: z.ZodType, io: "input" | "output", components: Record<string, Json>): Json {
  const { $schema, $defs, ...root } = z.toJSONSchema(schema, { target: "draft-2020-12", io }) as Json;
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const tidy = tidied(definition) as Json;
    const known = components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(tidy))
      throw new Error(`two different schemas are called ${name}`);
    components[name] = tidy;
  }
  return tidied(root) as Json;
}

/** Points references to the components. */
function tidied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidied);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (name === "$ref" && typeof member === "string")
        return [[name, member.replace("#/$defs/", "#/components/schemas/")]];
      // Closed objects would forbid the members that later versions add, and those that we ignore.
      if (name === "additionalProperties" && member === false) return [];
      return [[name, tidied(member)]];
    }),
  );
}
