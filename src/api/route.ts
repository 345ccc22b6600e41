// A route is data: method, path, schemas, handler. From the same table come the router, the validation and the OpenAPI
// description. Written by src/api/routes/*.ts.
import type { IncomingHttpHeaders } from "node:http";
import type { z } from "zod";
import type { FindCaller } from "../db/callers.ts";
import type { Limit } from "../db/limit.ts";
import type { Db } from "../db/page.ts";
import type { DatabasePool } from "../db/pool.ts";
import type { SecretBox } from "../webhooks/secret.ts";
import type { ApiDeps, JobRef } from "./deps.ts";
import type { FailedAuthLimiter } from "./failed-auth-limiter.ts";
import type { Live } from "./live.ts";
import type { RateLimit, RateName } from "./rate-limit.ts";

/** What all requests share besides: work that answers do not wait for, and whether the process is going away. */
export interface SharedDeps extends ApiDeps {
  readonly background: Background;
  readonly isDraining: () => boolean;
  /** For answers that wait for something to happen. */
  readonly live: Live;
  /** Keeps the secrets of webhooks. */
  readonly secrets: SecretBox;
  /** Confirms hold a database connection while they talk to the store: only so many at once. */
  readonly confirms: Limit;
  /** Imports hold much memory and a connection: only so many at once. */
  readonly imports: Limit;
  readonly rates: RateLimit;
  readonly findCaller: FindCaller;
  readonly failedAuth: FailedAuthLimiter;
}

/**
 * Starts `work` once the answer's transaction has committed; never, when the request fails. `work` must not use
 * `deps.db`, which may be that transaction.
 */
export type Background = (what: string, work: () => Promise<unknown>) => void;

/** What handlers get: the same, with the database as the caller's tenant sees it. */
export interface HandlerDeps extends Omit<SharedDeps, "db" | "submit"> {
  /** For the caller's tenant. */
  readonly submit: (job: JobRef) => Promise<void>;
  /** The tenant's rows only. Inside a transaction of the router's where a key or an ETag asks for one. */
  readonly db: Db;
  /** Nobody's: no row of a tenant is visible. For what belongs to none, or needs a connection of its own. */
  readonly pool: DatabasePool;
}

export interface Call<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Empty on routes without a key. */
  readonly tenantId: string;
  /** The key that was used; empty on routes without one. */
  readonly keyId: string;
  readonly request: RequestFacts;
  readonly deps: HandlerDeps;
}

/** What a handler may want to know about the request besides its input. */
export interface RequestFacts {
  /** Echoed in X-Request-Id. */
  readonly id: string;
  /** Address of the client, as far as trusted proxies tell it. */
  readonly ip: string;
  /** A well-formed W3C trace context, or null. */
  readonly traceparent: string | null;
  readonly headers: IncomingHttpHeaders;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

export interface Reply {
  /** JSON, or with `text` a string. */
  readonly body?: unknown;
  /** In pieces, for answers that do not fit into memory. */
  readonly stream?: AsyncIterable<string>;
  /** Where it is not the one of the route. */
  readonly contentType?: string;
  readonly location?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only where the status depends on something, as in /readyz. */
  readonly status?: number;
  /** Ids of what a POST made, in order: what `idempotent` renders when the same request comes again. */
  readonly created?: readonly string[];
  /** What the answer says that none of these can say again: kept with the key of the request, without secrets. */
  readonly report?: unknown;
  /** The strong ETag, where it is not the digest of the body. Quoted. */
  readonly etag?: string;
}

type Shape = z.ZodType;

export interface Route<P extends Shape = Shape, Q extends Shape = Shape, B extends Shape = Shape> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** A request without a body is then as good as one with {}. */
  readonly bodyOptional?: boolean;
  readonly maxBodyBytes?: number;
  /** Where the body is text and not JSON. */
  readonly bodyType?: "text/csv" | "text/plain";
  readonly bodyExample?: string;
  readonly answer: {
    readonly status: 200 | 201 | 204;
    readonly description: string;
    readonly schema?: z.ZodType;
    readonly contentType?: string;
    readonly example?: unknown;
    /** Content types of text that a parameter asks for instead, with an example each. */
    readonly texts?: Readonly<Record<string, string>>;
  };
  /** Whether an id in the body can be unknown; ids in the path always can. */
  readonly notFound?: boolean;
  /** Codes of the 409 answers. */
  readonly conflicts?: readonly string[];
  /** Failures besides those that follow from key, input and ids. */
  readonly failures?: readonly (404 | 503)[];
  /** What it counts against besides the default rate; `writes` if nothing is said and it is no GET. */
  readonly rate?: RateName;
  /** False: anyone may call it. */
  readonly auth?: false;
  readonly handler: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Reply> | Reply;
  /**
   * On every POST that creates: the answer for what the same request with the same Idempotency-Key made earlier.
   * The handler then runs inside a transaction that also holds the key's row. 404 when it was deleted meanwhile.
   */
  readonly idempotent?: (
    call: Call<z.output<P>, z.output<Q>, z.output<B>>,
    created: readonly string[],
    report: unknown,
  ) => Promise<Reply>;
  /** A GET that answers 304 to an If-None-Match that names its ETag. */
  readonly conditional?: true;
  /** Only so many at once, and none holds a database connection while it waits for its turn. */
  readonly semaphore?: "imports";
  /** A stream that takes Last-Event-ID. */
  readonly resumable?: true;
  /**
   * On writes that take If-Match: locks the resource until the transaction ends and gives the ETags that it has now
   * (by etagOf, as its GET has them). The handler runs in the same transaction. 404 when there is no such resource.
   */
  readonly guard?: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<readonly string[]>;
}

/** Keeps the precise types between the schemas and the handler, and forgets them in the table. */
export function defineRoute<P extends Shape, Q extends Shape, B extends Shape>(route: Route<P, Q, B>): Route {
  return route as unknown as Route;
}
