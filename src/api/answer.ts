// One request from its key to its answer, each step in an order that never changes (test/api/order.test.ts). Called by the
// router, which has found the route.
import { Readable } from "node:stream";
import type { Context } from "koa";
import { tenantDatabase } from "../db/tenant-db.ts";
import { preconditionFailed } from "../errors.ts";
import { authenticate } from "./authenticate.ts";
import { etagOf, isExpected, isUnchanged, refuseLongTagLists } from "./conditional.ts";
import { faultsOfKey, runOnce } from "./idempotency.ts";
import { readBody } from "./read-body.ts";
import { factsOf } from "./request-facts.ts";
import type { Background, Call, HandlerDeps, Reply, Route, SharedDeps } from "./route.ts";
import { fromQuery, validateParts } from "./validate.ts";

const defaultMaxBodyBytes = 1024 * 1024;

/** The key, then the body as such, then its fields, then the handler. */
export async function answer(ctx: Context, route: Route, deps: SharedDeps): Promise<void> {
  ctx.state.route = route.path;
  const caller = route.auth === false ? nobody : await authenticate(ctx, route, deps);
  ctx.state.tenantId = caller.tenantId;
  const { raw, ...input } = await readInput(ctx, route);
  const later: Parameters<Background>[] = [];
  const call: Call = {
    ...input,
    ...caller,
    request: factsOf(ctx, deps.config.PLOSIVE_TRUSTED_PROXIES),
    deps: scoped(deps, caller.tenantId, (...work) => later.push(work)),
  };
  const work = () => run(ctx, { ...route, handler: anew(route, later) }, call, raw);
  const reply = await (route.semaphore === undefined ? work() : deps[route.semaphore](work));
  for (const work of later) deps.background(...work);
  send(ctx, route, reply);
}

/** A transaction that is tried again must not start what its first attempt left for later: that was undone. */
function anew(route: Route, later: unknown[]): Route["handler"] {
  return (call) => {
    later.length = 0;
    return route.handler(call);
  };
}

const nobody = { tenantId: "", keyId: "" };

/** Without a key the tenant is none, and no tenant's row is visible. */
function scoped(deps: SharedDeps, tenantId: string, background: Background): HandlerDeps {
  return {
    ...deps,
    db: tenantId === "" ? deps.db : tenantDatabase(deps.db, tenantId),
    pool: deps.db,
    submit: (job) => deps.submit({ ...job, tenantId }),
    background,
  };
}

async function readInput(ctx: Context, route: Route) {
  refuseLongTagLists(route, ctx.req.headers);
  const maxBytes = route.maxBodyBytes ?? defaultMaxBodyBytes;
  const sent = route.body === undefined ? undefined : await readBody(ctx.req, maxBytes, route.bodyType);
  let given = sent?.value;
  if (given === undefined && route.bodyOptional) given = {};
  const [params, query, body] = validateParts(
    [
      { part: "path", schema: route.params, value: ctx.params },
      {
        part: "query",
        schema: route.query,
        value: route.query && fromQuery(route.query, new URLSearchParams(ctx.querystring)),
      },
      { part: "body", schema: route.body, value: given, odd: sent?.odd },
    ],
    route.idempotent === undefined ? [] : faultsOfKey(keyOf(ctx)),
  );
  return { params, query, body, raw: given };
}

/** Two such headers arrive joined: a key like any other, but one that the client will send again in the same way. */
function keyOf(ctx: Context): string | undefined {
  return ctx.req.headers["idempotency-key"] as string | undefined;
}

/** The handler; with an Idempotency-Key in one transaction with the memory of what it made. */
async function run(ctx: Context, route: Route, call: Call, body: unknown): Promise<Reply> {
  const { idempotent } = route;
  const key = keyOf(ctx);
  const handler = (inside: Call) => guarded(ctx, route, inside);
  if (idempotent === undefined || key === undefined) return await handler(call);
  // To put the members of a whole document in order takes half a second, in which nobody else is answered.
  const sent = route.semaphore === "imports" ? JSON.stringify(body) : body;
  const raw = { method: ctx.method, path: ctx.path, querystring: ctx.querystring, body: sent };
  return await runOnce({ call, key, raw, handler, replay: idempotent });
}

/** With If-Match in one transaction with the look at what it changes. */
async function guarded(ctx: Context, route: Route, call: Call): Promise<Reply> {
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
  // Short ones go out with their head in one piece, and leave nothing outside of the heap.
  if (text !== undefined) ctx.body = text.length < shortText ? text : Buffer.from(text);
  else if (stream !== undefined) ctx.body = stream instanceof Readable ? stream : inBytes(stream);
}

const shortText = 16 * 1024;
let sentBytes = 0;

/**
 * Long answers leave large pieces behind, outside of the heap that the collector looks at: left alone they add up to
 * a hundred MiB. A collection takes 30 ms, once for each 8 MiB. Needs --expose-gc (images/server/Dockerfile).
 */
function tidyAfter(bytes: number): void {
  sentBytes += bytes;
  if (sentBytes < 8 * 1024 * 1024) return;
  sentBytes = 0;
  globalThis.gc?.({ execution: "sync", type: "major" });
}

/**
 * A socket takes bytes as they are; text it would turn into bytes at a quarter of the speed. Counted in bytes, so that of
 * an answer that its reader is slow to take no more than one piece waits here.
 */
function inBytes(stream: AsyncIterable<string>): Readable {
  const bytes = async function* () {
    for await (const text of stream) {
      if (text === "") continue;
      const piece = Buffer.from(text);
      tidyAfter(piece.length);
      yield piece;
    }
  };
  return Readable.from(bytes(), { objectMode: false, highWaterMark: 65_536 });
}
