// A route is data: method, path, schemas, handler. From the same table come the router, the validation and the OpenAPI
// description. Written by src/api/routes/*.ts.
import type { z } from "zod";
import type { ApiConfig } from "../config.ts";
import type { Limit } from "../db/limit.ts";
import type { DatabasePool } from "../db/pool.ts";
import type { Log } from "../log.ts";
import type { Storage } from "../storage/storage.ts";

/** Everything that handlers may use; made by main.ts or a test. */
export interface ApiDeps {
  readonly db: DatabasePool;
  readonly storage: Storage;
  /** Makes or changes the custom resource of a job; safe to call again. Its failure is never the client's. */
  readonly submit: (job: { kind: "training" | "inference" | "embedding"; id: string }) => Promise<void>;
  readonly clock: { now(): number };
  readonly random: (size: number) => Uint8Array;
  readonly log: Log;
  readonly config: Pick<
    ApiConfig,
    "PLOSIVE_UPLOAD_MAX_BYTES" | "PLOSIVE_UPLOAD_EXPIRY_SECONDS" | "PLOSIVE_DOCS_ENABLED"
  >;
}

/** What handlers get besides: work that the answer does not wait for, and whether the process is going away. */
export interface HandlerDeps extends ApiDeps {
  readonly background: (what: string, work: Promise<unknown>) => void;
  readonly isDraining: () => boolean;
  /** Confirms hold a database connection while they talk to the store: only so many at once. */
  readonly confirms: Limit;
}

export interface Call<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Empty on routes without a key. */
  readonly tenantId: string;
  readonly deps: HandlerDeps;
}

export interface Reply {
  /** JSON, or with `text` a string. */
  readonly body?: unknown;
  /** JSON in pieces, for answers that do not fit into memory. */
  readonly stream?: AsyncIterable<string>;
  readonly location?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only where the status depends on something, as in /readyz. */
  readonly status?: number;
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
  readonly answer: {
    readonly status: 200 | 201 | 204;
    readonly description: string;
    readonly schema?: z.ZodType;
    readonly contentType?: string;
  };
  /** Whether an id in the body can be unknown; ids in the path always can. */
  readonly notFound?: boolean;
  /** Codes of the 409 answers. */
  readonly conflicts?: readonly string[];
  /** Failures besides those that follow from key, input and ids. */
  readonly failures?: readonly (404 | 503)[];
  /** False: anyone may call it. */
  readonly auth?: false;
  readonly handler: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Reply> | Reply;
}

/** Keeps the precise types between the schemas and the handler, and forgets them in the table. */
export function defineRoute<P extends Shape, Q extends Shape, B extends Shape>(route: Route<P, Q, B>): Route {
  return route as unknown as Route;
}
