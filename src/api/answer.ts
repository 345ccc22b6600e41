// Handles one request: key, body, fields, handler, response. The order of the steps is fixed (test/api/order.test.ts).
// The router calls this once it has found the route.
import { Readable } from "node:stream";
import type { Context } from "koa";
import { tenantDatabase } from "../db/tenant-db.ts";
import { preconditionFailed } from "../errors.ts";
import { authenticate } from "./authenticate.ts";
import type { BodyInput } from "./body/read.ts";
import { expectedBytes, readBytes } from "./body/receive.ts";
import { smallBytes } from "./body/threads.ts";
import { etagOf, isExpected, isUnchanged, refuseLongTagLists } from "./conditional.ts";
import { faultsOfKey, runOnce } from "./idempotency.ts";
import { factsOf } from "./request-facts.ts";
import type { Background, Call, HandlerDeps, Reply, Route, SharedDeps } from "./route.ts";
import { type Release, type Share, unitsOf } from "./shares.ts";
import { fromQuery, type PartResult, validatePart, valuesOf } from "./validate.ts";

const defaultMaxBodyBytes = 1024 * 1024;

/**
 * Authenticates, reads and validates the input, runs the handler, and sends its reply. Throws AppError on any failure.
 */
export async function answer(ctx: Context, route: Route, deps: SharedDeps): Promise<void> {
  ctx.state.route = route.path;
  const caller = route.auth === false ? anonymous : await authenticate(ctx, route, deps);
  const { tenantId } = caller;
  ctx.state.tenantId = tenantId;
  refuseLongTagLists(route, ctx.req.headers);
  const { maxBodyBytes = defaultMaxBodyBytes, bodyType = "application/json" } = route;
  const held: Release[] = [];
  try {
    const expected = route.body === undefined ? 0 : expectedBytes(ctx.req, maxBodyBytes, bodyType);
    if (expected > 0) held.push(await atMostPerSecond(deps.shares.bodies, tenantId, expected));
    const bytes = expected === 0 ? noBytes : await readBytes(ctx.req, maxBodyBytes, bodyType);
    if (bytes.length > smallBytes) held.push(await deps.shares.documents(tenantId, unitsOf(bytes.length)));
    const { body, fingerprint } = await bodyOf(ctx, route, deps, { bytes, type: bodyType });
    const deferred: Parameters<Background>[] = [];
    const call: Call = {
      ...validInput(ctx, route, body),
      ...caller,
      request: factsOf(ctx, deps.config.PLOSIVE_TRUSTED_PROXIES),
      deps: scoped(deps, tenantId, (...work) => deferred.push(work)),
    };
    const reply = await run(
      ctx,
      { ...route, handler: clearDeferredFirst(route, deferred) },
      call,
      fingerprint,
    );
    for (const work of deferred) deps.background(...work);
    send(ctx, route, reply);
  } finally {
    for (const release of held) release();
  }
}

const noBytes = Buffer.alloc(0);
/** Reading and checking a body takes processor time, even if it is refused. */
const bodyBytesPerSecond = 8 * 1024 * 1024;

/** Takes the share of a body. The release takes effect no sooner than after the time that the body may take. */
async function atMostPerSecond(bodies: Share, tenantId: string, bytes: number): Promise<Release> {
  const release = await bodies(tenantId, unitsOf(bytes));
  const earliest = performance.now() + (bytes / bodyBytesPerSecond) * 1_000;
  return () => {
    const early = earliest - performance.now();
    if (early < minRestMs) release();
    else setTimeout(release, early).unref();
  };
}

/** Shorter rests are not worth a timer. */
const minRestMs = 10;

/**
 * A retried transaction undoes its first attempt, so the background work that the first attempt deferred is dropped.
 */
function clearDeferredFirst(route: Route, deferred: unknown[]): Route["handler"] {
  return (call) => {
    deferred.length = 0;
    return route.handler(call);
  };
}

const anonymous = { tenantId: "", keyId: "", scopes: [] };

/** On a route without a key there is no tenant, and row-level security hides the rows of all tenants. */
function scoped(deps: SharedDeps, tenantId: string, background: Background): HandlerDeps {
  return {
    ...deps,
    db: tenantId === "" ? deps.db : tenantDatabase(deps.db, tenantId),
    pool: deps.db,
    submit: (job) => deps.submit({ ...job, tenantId }),
    background,
  };
}

/** Parses and validates the body. The fingerprint is needed only if the request may be repeated. */
async function bodyOf(
  ctx: Context,
  route: Route,
  { readBody }: SharedDeps,
  { bytes, type }: Pick<BodyInput, "bytes" | "type">,
): Promise<{ body: PartResult; fingerprint: Uint8Array | undefined }> {
  const { body: schema, bodyOptional: optional = false, comparesText: byText = false, idempotent } = route;
  const isRepeatable = idempotent !== undefined && keyOf(ctx) !== undefined;
  const repeatable = isRepeatable ? { repeatable: { querystring: ctx.querystring, byText } } : {};
  const { fingerprint, ...body } = await readBody(schema, { bytes, type, optional, ...repeatable });
  return { body, fingerprint };
}

function validInput(ctx: Context, route: Route, sent: PartResult) {
  const query = route.query && fromQuery(route.query, new URLSearchParams(ctx.querystring));
  const [params, given, body] = valuesOf(
    [
      validatePart({ part: "path", schema: route.params, value: ctx.params }),
      validatePart({ part: "query", schema: route.query, value: query }),
      sent,
    ],
    route.idempotent === undefined ? [] : faultsOfKey(keyOf(ctx)),
  );
  return { params, query: given, body };
}

/** Node joins repeated headers into one value. That value is a key like any other: a repeated request has it again. */
function keyOf(ctx: Context): string | undefined {
  return ctx.req.headers["idempotency-key"] as string | undefined;
}

/** Runs the handler. With an Idempotency-Key, one transaction covers the handler and the row of the key. */
async function run(
  ctx: Context,
  route: Route,
  call: Call,
  fingerprint: Uint8Array | undefined,
): Promise<Reply> {
  const { idempotent: replay } = route;
  const key = keyOf(ctx);
  const handler = (inside: Call) => withIfMatch(ctx, route, inside);
  if (replay === undefined || key === undefined || fingerprint === undefined) return await handler(call);
  return await runOnce({ call, key, target: [ctx.method, ctx.path], fingerprint, handler, replay });
}

/** Runs the handler. With If-Match, one transaction covers the comparison of the ETags and the handler. */
async function withIfMatch(ctx: Context, route: Route, call: Call): Promise<Reply> {
  const ifMatch = ctx.req.headers["if-match"];
  if (route.guard === undefined || ifMatch === undefined) return await route.handler(call);
  const { guard } = route;
  return await call.deps.db.transaction(async (tx) => {
    const inside = { ...call, deps: { ...call.deps, db: tx } };
    if (!isExpected(ifMatch, await guard(inside))) throw preconditionFailed();
    return await route.handler(inside);
  });
}

function send(ctx: Context, route: Route, reply: Reply): void {
  for (const [name, value] of Object.entries(reply.headers ?? {})) ctx.set(name, value);
  if (reply.location !== undefined) ctx.set("Location", reply.location);
  ctx.state.created = reply.created?.length;
  const { body, stream } = reply;
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const shows = route.conditional || (route.guard !== undefined && route.method === "PATCH");
  const etag = reply.etag ?? (shows && text !== undefined ? etagOf(text) : undefined);
  if (etag !== undefined) ctx.set("ETag", etag);
  if (route.conditional && etag !== undefined) {
    ctx.set("Cache-Control", "private, no-cache");
    if (isUnchanged(ctx.req.headers["if-none-match"], etag)) {
      ctx.status = 304;
      return;
    }
  }
  ctx.status = reply.status ?? route.answer.status;
  if (text === undefined && stream === undefined) return;
  ctx.type = reply.contentType ?? route.answer.contentType ?? "application/json; charset=utf-8";
  // Node sends a short string together with the headers in one piece, and needs no memory outside the heap for it.
  if (text !== undefined) ctx.body = text.length < shortText ? text : Buffer.from(text);
  else if (stream !== undefined) ctx.body = stream instanceof Readable ? stream : encoded(stream);
}

const shortText = 16 * 1024;
let bytesSinceCollection = 0;

/**
 * Forces a garbage collection after every 8 MiB of streamed responses. Their buffers lie outside the heap, where the
 * collector does not count them; without this they grow to 100 MiB. One collection takes 30 ms. Needs --expose-gc
 * (images/server/Dockerfile).
 */
function collectGarbageAfter(bytes: number): void {
  bytesSinceCollection += bytes;
  if (bytesSinceCollection < 8 * 1024 * 1024) return;
  bytesSinceCollection = 0;
  globalThis.gc?.({ execution: "sync", type: "major" });
}

/**
 * Encodes the text pieces as bytes: a socket that has to encode text itself is four times slower. The stream counts
 * bytes, so with a slow reader at most one piece is buffered here.
 */
function encoded(stream: AsyncIterable<string>): Readable {
  const bytes = async function* () {
    for await (const text of stream) {
      if (text === "") continue;
      const piece = Buffer.from(text);
      collectGarbageAfter(piece.length);
      yield piece;
    }
  };
  return Readable.from(bytes(), { objectMode: false, highWaterMark: 65_536 });
}
