// Types of routes. A route is data: method, path, schemas, handler. The router, the validation and the OpenAPI
// description all come from the same table of routes. Used by src/api/routes/*.ts, which define the routes.
import type { IncomingHttpHeaders } from "node:http";
import type { z } from "zod";
import type { FindCaller } from "../db/callers.ts";
import type { Db } from "../db/driver/page.ts";
import type { DatabasePool } from "../db/driver/pool.ts";
import type { Permission } from "../schemas/role.ts";
import type { SecretBox } from "../webhooks/secret.ts";
import type { BodyMemory } from "./body/memory.ts";
import type { ReadBody } from "./body/threads.ts";
import type { ApiDeps, JobRef } from "./deps.ts";
import type { FailedAuthLimiter } from "./failed-auth-limiter.ts";
import type { Live } from "./live.ts";
import type { Pace } from "./pace.ts";
import type { RateLimit, RateName } from "./rate-limit.ts";
import type { Shares } from "./shares.ts";

/** Returns the JSON of a stored waveform in the wanted resolution, and its ETag. */
export type ReadWaveform = (task: {
  readonly bytes: Uint8Array;
  readonly samplesPerPixel: number | undefined;
}) => Promise<{ readonly body: string; readonly etag: string }>;

/** The dependencies that all requests share. Made by app.ts. */
export interface SharedDeps extends ApiDeps {
  readonly background: Background;
  readonly isDraining: () => boolean;
  /** For event streams and long polls. */
  readonly live: Live;
  /** Encrypts and decrypts the secrets of webhooks. */
  readonly secrets: SecretBox;
  readonly shares: Shares;
  readonly bodyMemory: BodyMemory;
  readonly readBody: ReadBody;
  readonly readWaveform: ReadWaveform;
  readonly rates: RateLimit;
  readonly findCaller: FindCaller;
  readonly failedAuth: FailedAuthLimiter;
  readonly pace: Pace;
}

/**
 * Starts `work` after the request's transaction has committed, without delaying the response; never if the request
 * fails. `work` must not use `deps.db`, which may be that transaction. `what` completes the log message "could not
 * ...".
 */
export type Background = (what: string, work: () => Promise<unknown>) => void;

/** The dependencies of a handler: those of all requests, with the database as the caller's tenant sees it. */
export interface HandlerDeps extends Omit<SharedDeps, "db" | "submit"> {
  /** For the caller's tenant. */
  readonly submit: (job: JobRef) => Promise<void>;
  /**
   * Shows only the rows of the tenant. It is already a transaction if the request has an Idempotency-Key or If-Match.
   */
  readonly db: Db;
  /** The pool itself, for the probes. Row-level security hides the rows of all tenants. */
  readonly pool: DatabasePool;
}

export interface Call<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Empty on routes without authentication. */
  readonly tenantId: string;
  /** Id of the API key; null: a user of the dashboard; empty on routes without authentication. */
  readonly keyId: string | null;
  /** What the API key or the user may do; empty: everything. */
  readonly scopes: readonly Permission[];
  /** Digest of the token of the dashboard's session; null: the request came with the key itself. */
  readonly session: Buffer | null;
  readonly request: RequestFacts;
  readonly deps: HandlerDeps;
}

/** Facts about a request besides its input. */
export interface RequestFacts {
  /** Echoed in X-Request-Id. */
  readonly id: string;
  /** Address of the client, from the connection or from trusted proxies. */
  readonly ip: string;
  /** A well-formed W3C trace context, or null. */
  readonly traceparent: string | null;
  readonly headers: IncomingHttpHeaders;
  /** Aborted when the client closes the connection. */
  readonly signal: AbortSignal;
}

export interface Reply {
  /** A value to send as JSON, or text or bytes to send as they are. */
  readonly body?: unknown;
  /** The body in pieces, for responses that do not fit into memory. */
  readonly stream?: AsyncIterable<string>;
  /** Overrides the content type of the route. */
  readonly contentType?: string;
  readonly location?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ids of the resources that a POST created, in order. `idempotent` gets them when the request is repeated. */
  readonly created?: readonly string[];
  /**
   * Data of the response that the created resources cannot provide again. It is stored with the Idempotency-Key, so it
   * must not contain secrets.
   */
  readonly report?: unknown;
  /** The strong ETag, quoted; by default, a digest of the body. */
  readonly etag?: string;
}

type Shape = z.ZodType;

export interface Route<P extends Shape = Shape, Q extends Shape = Shape, B extends Shape = Shape> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with parameters in braces, as in OpenAPI. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The section of the documentation; routes/index.ts sets it. */
  readonly tag?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** True: a request without a body equals one with the body {}. */
  readonly bodyOptional?: boolean;
  readonly maxBodyBytes?: number;
  /** Content type of a text body; by default the body is JSON. */
  readonly bodyType?: "text/csv" | "text/plain";
  readonly bodyExample?: string;
  readonly answer: {
    readonly status: 200 | 201 | 204;
    readonly description: string;
    readonly schema?: z.ZodType;
    readonly contentType?: string;
    readonly example?: unknown;
    /** Text content types that a query parameter can select instead, each with an example. */
    readonly texts?: Readonly<Record<string, string>>;
  };
  /** Error codes of the route's 409 responses. */
  readonly conflicts?: readonly string[];
  /** Error statuses in addition to those that follow from authentication, input and ids. */
  readonly failures?: readonly (404 | 503)[];
  /**
   * The handler may read, copy or delete all of a list, dataset, set or job, whatever the parameters are; so may a list whose total the
   * database counts. Such requests of a tenant run one at a time, as lists with a filter do.
   */
  readonly reads?: "all";
  /** Rate limit that the route counts against in addition to the default one; `writes` by default, except for GET. */
  readonly rate?: RateName;
  /** False: the route needs no authentication. */
  readonly auth?: false;
  readonly handler: (
    call: Call<z.output<P>, z.output<Q>, z.output<B>>,
  ) => Promise<Reply> | Promise<void> | Reply;
  /**
   * Every POST has it whose repetition would have another effect: returns the reply for the resources that an earlier request
   * with the same Idempotency-Key created or changed; 404 if they were deleted since. With a key, the handler runs in a transaction that also
   * inserts the key's row.
   */
  readonly idempotent?: (
    call: Call<z.output<P>, z.output<Q>, z.output<B>>,
    created: readonly string[],
    report: unknown,
  ) => Promise<Reply>;
  /** True for a GET that answers 304 if If-None-Match contains the ETag. */
  readonly conditional?: true;
  /** True: a repeated request is recognized by the text of its body, because sorting its members takes long. */
  readonly comparesText?: true;
  /** True for a stream that supports Last-Event-ID. */
  readonly resumable?: true;
  /**
   * Writes that support If-Match have it: locks the resource until the transaction ends, and returns its current ETags,
   * the same ones that its GET returns. The handler runs in the same transaction. Throws 404 if there is no such
   * resource.
   */
  readonly guard?: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<readonly string[]>;
}

/** Type-checks the handler against the schemas, and returns the route with a general type for the table. */
export function defineRoute<P extends Shape, Q extends Shape, B extends Shape>(
  method: Route["method"],
  path: string,
  rest: Omit<Route<P, Q, B>, "method" | "path">,
): Route {
  return { method, path, ...rest } as unknown as Route;
}
