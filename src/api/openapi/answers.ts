// The responses of an operation: its success and every possible error. Errors that are the same for all operations are
// in components/responses. Called by openapi.ts and operation.ts.
import type { z } from "zod";
import {
  AppError,
  bodyTooLarge,
  datasetNotFound,
  invalidApiKey,
  invalidRequest,
  preconditionFailed,
  rateLimited,
  tenantSuspended,
  unavailable,
  unsupportedMediaType,
  validationFailed,
} from "../../errors.ts";
import { type ErrorCode, errorMeanings } from "../../schemas/error-code.ts";
import { errorBody, validationErrorBody } from "../../schemas/rest.ts";
import { bodyOf } from "../middleware/answer-errors.ts";
import type { Route } from "../route.ts";
import { exampleOf } from "./example.ts";
import { everyAnswer, headerRefs } from "./headers.ts";
import { linksOf } from "./links.ts";
import { type Components, type Json, schemaOf } from "./schema.ts";

/** Errors that are the same for all operations, each with an example. */
const failures = [
  {
    name: "BadRequest",
    description: "The request is malformed: its framing, its headers or its JSON",
    error: invalidRequest("the body is not JSON in UTF-8"),
  },
  {
    name: "Unauthorized",
    description: "The API key is missing, invalid, revoked or expired",
    error: invalidApiKey(),
  },
  {
    name: "Forbidden",
    description: "The account is suspended, or the scopes of the API key do not allow the request",
    error: tenantSuspended(),
  },
  {
    name: "NotFound",
    description:
      "There is no such resource, or it belongs to another account; the response does not tell which",
    error: datasetNotFound(),
  },
  {
    name: "PreconditionFailed",
    description: "If-Match contains none of the resource's current ETags; nothing was changed",
    error: preconditionFailed(),
  },
  { name: "BodyTooLarge", description: "The body is too large", error: bodyTooLarge(1024 * 1024) },
  {
    name: "UnsupportedMediaType",
    description: "The body does not have the content type that the operation accepts",
    error: unsupportedMediaType("application/json"),
  },
  {
    name: "ValidationFailed",
    description: "Fields of the request are invalid; the response lists all faults",
    error: validationFailed([{ loc: ["body", "name"], msg: "Field required", type: "missing" }]),
  },
  {
    name: "TooManyRequests",
    description:
      "Too many requests (then wait for the seconds in Retry-After), or a quota is used up (then there is no Retry-After)",
    error: rateLimited(1),
  },
  {
    name: "HeadersTooLarge",
    description: "The headers of the request are larger than 16 KiB in total",
    error: new AppError({
      status: 431,
      code: "invalid_request",
      message: "The request headers are too large",
    }),
  },
  {
    name: "InternalError",
    description: "The service has an internal error; its logs contain the X-Request-Id of the response",
    error: new AppError({ status: 500, code: "internal_error", message: "unexpected error" }),
  },
  {
    name: "Unavailable",
    description: "The service is temporarily unavailable; try again after the seconds in Retry-After",
    error: unavailable("database"),
  },
];

export function sharedResponses(components: Components): Json {
  return Object.fromEntries(
    failures.map(({ name, description, error }) => [
      name,
      {
        description,
        headers: headerRefs(...everyAnswer, ...Object.keys(error.headers)),
        content: json(error.status === 422 ? validationErrorBody : errorBody, components, bodyOf(error)),
      },
    ]),
  );
}

export function responsesOf(route: Route, routes: readonly Route[], components: Components): Json {
  const { answer } = route;
  const own = [
    ...(answer.status === 201 ? ["Location"] : []),
    ...(route.idempotent === undefined ? [] : ["Idempotency-Replayed"]),
    ...(route.conditional || route.guard ? ["ETag"] : []),
    ...(route.guard && /\/annotation-sets\/\{\w+\}\/(annotations|reviewed|import)\b/.test(route.path)
      ? ["X-Annotation-Set-ETag"]
      : []),
    ...("cursor" in ((route.query as z.ZodObject | undefined)?.shape ?? {}) ? ["X-Next-Cursor"] : []),
    ...(/\/export(\/|$)/.test(route.path) ? ["Content-Disposition"] : []),
    ...(route.answer.schema?.type === "array" && route.query !== undefined ? ["X-Total-Count"] : []),
  ];
  const links = answer.status === 201 ? linksOf(route, routes) : {};
  return {
    [answer.status]: {
      description: answer.description,
      headers: headerRefs(...everyAnswer, ...own),
      ...(answer.schema === undefined ? {} : { content: contentOf(answer, answer.schema, components) }),
      ...(Object.keys(links).length === 0 ? {} : { links }),
    },
    ...(route.conditional
      ? {
          304: {
            description: "Unchanged: If-None-Match contains the current ETag of the resource",
            headers: headerRefs(...everyAnswer, "ETag"),
          },
        }
      : {}),
    ...conflict(route, components),
    ...Object.fromEntries(
      failuresOf(route).map((status) => [
        status,
        { $ref: `#/components/responses/${failures.find(({ error }) => error.status === status)?.name}` },
      ]),
    ),
  };
}

function failuresOf(route: Route): number[] {
  const hasInput = route.params !== undefined || route.query !== undefined || route.body !== undefined;
  return [
    400,
    431,
    500,
    ...(route.body === undefined ? [] : [413, 415]),
    ...(route.auth === false ? [] : [401, 403, 429, 503]),
    // With an Idempotency-Key also if the resource that the first request created was deleted since.
    ...(route.params !== undefined || route.idempotent !== undefined ? [404] : []),
    ...(route.guard === undefined ? [] : [412]),
    ...(hasInput || route.idempotent !== undefined ? [422] : []),
    ...(route.failures ?? []),
  ];
}

function conflict(route: Route, components: Components): Json {
  const codes = [
    ...(route.conflicts ?? []),
    ...(route.idempotent === undefined ? [] : ["request_in_progress"]),
  ];
  if (codes.length === 0) return {};
  const isTemporary = codes.some((code) => ["request_in_progress", "annotation_set_copying"].includes(code));
  const description = `The request conflicts with the current state: ${codes.map((code) => `\`${code}\``).join(", ")}`;
  const example = { detail: errorMeanings[codes[0] as ErrorCode], code: codes[0] };
  return {
    409: {
      description,
      headers: headerRefs(...everyAnswer, ...(isTemporary ? ["Retry-After"] : [])),
      content: json(errorBody, components, example),
    },
  };
}

function contentOf(answer: Route["answer"], schema: z.ZodType, components: Components): Json {
  const plain = (type: string) => type.split(";")[0] ?? "";
  const texts = Object.entries(answer.texts ?? {}).map(([type, example]) => [
    plain(type),
    // An export may have any length.
    { schema: { type: "string", maxLength: 2 ** 31 - 1 }, example },
  ]);
  const main = schemaOf(schema, "output", components);
  return {
    [plain(answer.contentType ?? "application/json")]: {
      schema: main,
      example: answer.example ?? exampleOf(main, components),
    },
    ...Object.fromEntries(texts),
  };
}

function json(schema: z.ZodType, components: Components, example: unknown): Json {
  return { "application/json": { schema: schemaOf(schema, "output", components), example } };
}
