// What the steps of one request share (answer.ts).
import type { Context } from "koa";
import type { Caller } from "./authenticate.ts";
import type { Background, Call, Reply, Route, SharedDeps } from "./route.ts";
import type { PartResult } from "./validate.ts";

/** One request on its way through the steps. Each step adds what later steps need. */
export interface Exchange {
  readonly ctx: Context;
  readonly route: Route;
  readonly deps: SharedDeps;
  /** Tenant, key and scopes; empty on a route without a key. */
  caller: Caller;
  bytes: Buffer;
  body: PartResult;
  /** Of the body and the query; only with an Idempotency-Key. */
  fingerprint: Uint8Array | undefined;
  /** Present from the validation on. */
  call: Call;
  /** Background work of the handler, which starts when the request's transaction has committed. */
  readonly deferred: Parameters<Background>[];
  /** Present from the handler on. */
  reply: Reply;
}

/** Does its part before or after all later steps, which `next` runs; a transaction may run them again. */
export type Step = (exchange: Exchange, next: () => Promise<void>) => Promise<void>;

/** Runs the later steps in a transaction. */
export async function inTransaction(exchange: Exchange, work: (call: Call) => Promise<void>): Promise<void> {
  const { call } = exchange;
  await call.deps.db.transaction(async (tx) => {
    // A retried transaction undoes its first attempt, so what the first attempt deferred is dropped.
    exchange.deferred.length = 0;
    exchange.call = { ...call, deps: { ...call.deps, db: tx } };
    await work(exchange.call);
  });
}

/** Node joins repeated headers into one value. That value is a key like any other: a repeated request has it again. */
export const keyOf = ({ ctx }: Exchange) => ctx.req.headers["idempotency-key"] as string | undefined;
