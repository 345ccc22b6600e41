// Handles one request in a fixed order of steps (test/api/order.test.ts). The router calls this once it has found the
// route.
import { Readable } from "node:stream";
import type { Context } from "koa";
import { z } from "zod";
import { preconditionFailed } from "../errors.ts";
import { authenticate } from "./authenticate.ts";
import { expectedBytes, readBytes } from "./body/receive.ts";
import { smallBytes } from "./body/threads.ts";
import { isExpected, refuseLongTagLists } from "./conditional.ts";
import { faultsOfKey, runOnce } from "./idempotency.ts";
import { factsOf } from "./request-facts.ts";
import { makeRestAfter, minLargeBytes } from "./rests.ts";
import type { Background, HandlerDeps, Route, SharedDeps } from "./route.ts";
import { encoded, type Rest, restAfterScan, send, textOf, whole } from "./send.ts";
import { unitsOf } from "./shares.ts";
import { type Exchange, inTransaction, keyOf, type Step } from "./step.ts";
import { fromQuery, validatePart, valuesOf } from "./validate.ts";

const steps: readonly Step[] = [
  identifyCaller,
  receiveBody,
  parseBody,
  validateInput,
  holdResponse,
  startDeferredWork,
  holdRead,
  runOnce,
  requireUnchanged,
  runHandler,
];

/**
 * Authenticates, reads and validates the input, runs the handler, and sends its reply. Throws AppError on any failure.
 */
export async function answer(ctx: Context, route: Route, deps: SharedDeps): Promise<void> {
  const exchange = {
    ...{ ctx, route, deps, caller: anonymous, deferred: [] },
    ...{ bytes: noBytes, body: noBody, fingerprint: undefined },
  } as unknown as Exchange;
  const runFrom = async (i: number): Promise<void> => await steps[i]?.(exchange, () => runFrom(i + 1));
  await runFrom(0);
  send(ctx, route, exchange.reply);
}

const anonymous = { tenantId: "", keyId: "", scopes: [], session: null };
const noBytes = Buffer.alloc(0);
const noBody = { value: undefined, items: [] };

async function identifyCaller(exchange: Exchange, next: () => Promise<void>): Promise<void> {
  const { ctx, route, deps } = exchange;
  ctx.state.route = route.path;
  if (route.auth !== false) exchange.caller = await authenticate(ctx, route, deps);
  ctx.state.tenantId = exchange.caller.tenantId;
  refuseLongTagLists(route, ctx.req.headers);
  await next();
}

const defaultMaxBodyBytes = 1024 * 1024;

/** Takes the tenant's share of memory before it reads the body, and holds it until the reply is ready. */
async function receiveBody(exchange: Exchange, next: () => Promise<void>): Promise<void> {
  const { ctx, deps } = exchange;
  const { body, maxBodyBytes = defaultMaxBodyBytes, bodyType = "application/json" } = exchange.route;
  const expected = body === undefined ? 0 : expectedBytes(ctx.req, maxBodyBytes, bodyType);
  if (expected === 0) return await next();
  const { tenantId } = exchange.caller;
  const since = performance.now();
  const share = expected < minLargeBytes ? deps.shares.bodies : deps.shares.large_bodies;
  const release = await share(
    tenantId,
    expected > oneAtATimeBytes ? Number.POSITIVE_INFINITY : unitsOf(expected),
  );
  let memory: Buffer = noBytes;
  let size = 0;
  try {
    memory = deps.bodyMemory.take(expected);
    exchange.bytes = await readBytes(ctx.req, memory, bodyType);
    // Now, because a worker thread may take the bytes away.
    size = exchange.bytes.length;
    await next();
  } finally {
    deps.bodyMemory.giveBack(memory);
    release(restAfterBody(tenantId, since, size));
  }
}

/** Larger bodies take all of the tenant's share: several at once would take the processor from others before the first rest. */
const oneAtATimeBytes = 1024 * 1024;

/** Reading and checking a large body takes processor time, even if it is refused. The rate limits bound the others. */
const restAfterBody = makeRestAfter(1024 * 1024);

/** Parses and checks the body. A large document takes a share of its own. */
async function parseBody(exchange: Exchange, next: () => Promise<void>): Promise<void> {
  const { ctx, route, deps, bytes } = exchange;
  const { body: schema, bodyType: type = "application/json", bodyOptional: optional = false } = route;
  const size = bytes.length;
  const release =
    size > smallBytes ? await deps.shares.documents(exchange.caller.tenantId, unitsOf(size)) : () => {};
  try {
    const repeatable = { querystring: ctx.querystring, byText: route.comparesText ?? false };
    // The fingerprint is needed only if the request may be repeated.
    const isRepeatable = route.idempotent !== undefined && keyOf(exchange) !== undefined;
    const input = { bytes, type, optional, ...(isRepeatable ? { repeatable } : {}) };
    const { fingerprint, ...body } = await deps.readBody(schema, input);
    Object.assign(exchange, { body, fingerprint });
    await next();
  } finally {
    release();
  }
}

async function validateInput(exchange: Exchange, next: () => Promise<void>): Promise<void> {
  const { ctx, route, deps, caller, deferred } = exchange;
  const query = route.query && fromQuery(route.query, new URLSearchParams(ctx.querystring));
  const [params, given, body] = valuesOf(
    [
      validatePart({ part: "path", schema: route.params, value: ctx.params }),
      validatePart({ part: "query", schema: route.query, value: query }),
      exchange.body,
    ],
    route.idempotent === undefined ? [] : faultsOfKey(keyOf(exchange)),
  );
  exchange.call = {
    ...{ params, query: given, body, ...caller },
    request: factsOf(ctx, deps.config.PLOSIVE_TRUSTED_PROXIES),
    deps: scoped(deps, caller.tenantId, (...work) => deferred.push(work)),
  };
  await next();
}

/** On a route without a key there is no tenant, and row-level security hides the rows of all tenants. */
function scoped(deps: SharedDeps, tenantId: string, background: Background): HandlerDeps {
  return {
    ...deps,
    db: tenantId === "" ? deps.db : deps.db.asTenant(tenantId),
    pool: deps.db,
    submit: (job) => deps.submit({ ...job, tenantId }),
    background,
  };
}

/**
 * A large response to GET takes a share of its tenant until the client has read it. Only reads are refused without a share:
 * what a write did is done (middleware/bound-unread.ts).
 */
async function holdResponse(exchange: Exchange, next: () => Promise<void>): Promise<void> {
  await next();
  const { ctx, route, deps, caller } = exchange;
  // The client decides how long its response takes, and the rows that the pieces come from take more memory.
  if (route.method !== "GET") exchange.reply = await whole(exchange.reply);
  if (route.method !== "GET" || caller.tenantId === "") return;
  const { stream } = exchange.reply;
  // Event streams are bounded by their number (live.ts).
  if (stream !== undefined && !(stream instanceof Readable)) {
    const release = await deps.shares.exports(caller.tenantId, 1);
    const rest: Rest = { ms: 0, mayScan: isFiltered(exchange.call.query) };
    const pieces = encoded(stream, rest);
    exchange.reply = { ...exchange.reply, stream: pieces };
    // A statement goes on when its client has gone.
    whenSent(ctx, () => {
      if (pieces.closed) release(rest.ms);
      else pieces.once("close", () => release(rest.ms)).destroy();
    });
  }
  const body = textOf(exchange.reply);
  if (body === undefined) return;
  exchange.reply = { ...exchange.reply, body };
  if (body.length < minLargeBytes) return;
  whenSent(ctx, await deps.shares.responses(caller.tenantId, unitsOf(body.length)));
}

/** Calls `release` when the response is sent, or its client is gone. */
function whenSent({ res }: Context, release: () => void): void {
  if (res.closed) release();
  else res.once("close", release);
}

/** After the transactions of the later steps have committed. */
async function startDeferredWork({ deps, deferred }: Exchange, next: () => Promise<void>): Promise<void> {
  await next();
  for (const work of deferred) deps.background(...work);
}

/** With If-Match, one transaction covers the comparison of the ETags and the handler. */
async function requireUnchanged(exchange: Exchange, next: () => Promise<void>): Promise<void> {
  const ifMatch = exchange.ctx.req.headers["if-match"];
  const { guard } = exchange.route;
  if (guard === undefined || ifMatch === undefined) return await next();
  await inTransaction(exchange, async (call) => {
    if (!isExpected(ifMatch, await guard(call))) throw preconditionFailed();
    await next();
  });
}

/** Reading, checking and serializing the rows of a large page takes processor time. The rate limits bound the others. */
const restAfterList = makeRestAfter(2 * 1024 * 1024);
/** The same for the response to a change of many rows. */
const restAfterChange = makeRestAfter(2 * 1024 * 1024);

/** Before a transaction: what waits for the share must not hold a connection that the holder of the share needs. */
async function holdRead(exchange: Exchange, next: () => Promise<void>): Promise<void> {
  const { scans, lists } = exchange.deps.shares;
  const { tenantId } = exchange.caller;
  const [scansRows, isOnePage] = [mayScan(exchange), isPage(exchange)];
  if (!scansRows && !isOnePage) return await next();
  const release = await (scansRows ? scans : lists)(tenantId, 1);
  const begun = performance.now();
  let scanMs = 0;
  let bytes = 0;
  try {
    await next().finally(() => {
      scanMs = performance.now() - begun;
    });
    if (isOnePage || exchange.route.method !== "GET") {
      const reply = await whole(exchange.reply);
      exchange.reply = reply;
      bytes = reply.body?.length ?? 0;
    }
  } finally {
    const rest = (isOnePage ? restAfterList : restAfterChange)(tenantId, begun, bytes);
    release(scansRows ? Math.max(rest, restAfterScan(scanMs)) : rest);
  }
}

async function runHandler(exchange: Exchange): Promise<void> {
  exchange.reply = (await exchange.route.handler(exchange.call)) ?? {};
}

/** Rows before a page that are skipped in no time. */
const nearRows = 2_000;

/** Whether the request may read all rows of its tenant: by its route, by a filter, or as a page far from the first. */
function mayScan({ route, call }: Exchange): boolean {
  if (route.reads === "all") return true;
  if (!isList(route)) return false;
  const { page = 1, page_size = 20 } = call.query as Record<string, unknown>;
  return Number(page) * Number(page_size) > nearRows || isFiltered(call.query);
}

const isList = ({ method, query }: Route) =>
  method === "GET" && query instanceof z.ZodObject && "page" in query.shape;

/** Whether the request asks for a page of a list, and not for all of it. */
function isPage({ route, call }: Exchange): boolean {
  if (!isList(route)) return false;
  const { page, page_size } = call.query as Record<string, unknown>;
  return page !== undefined || page_size !== undefined;
}

/** Whether rows are chosen by their values. */
function isFiltered(query: unknown): boolean {
  const { page, page_size, order, cursor, format, flavor, audio, ...filter } = {
    ...(query as object),
  } as Record<string, unknown>;
  return Object.values(filter).some((value) => value !== undefined);
}
