// Rate limits per tenant: the policy of each route, the RateLimit headers, and a short cache of refused keys, which
// keeps a flood of requests away from the database. The database holds the token buckets (admit_caller, migration
// 0005). Called by authenticate.ts.
import { Counter, type Registry } from "prom-client";
import type { CallerRow, Rate } from "../db/api-key.ts";
import { type AppError, rateLimited } from "../errors.ts";
import type { ApiDeps } from "./deps.ts";

/** The database knows a policy by its position in this list, from 1. */
const names = ["default", "writes", "uploads", "keys", "trainings"] as const;
export type RateName = (typeof names)[number];

export interface Policy {
  readonly name: RateName;
  readonly number: number;
  /** 0: no limit. */
  readonly perMinute: number;
  readonly rate: Rate;
}

export type Headers = Readonly<Record<string, string>>;

export interface Refusal {
  readonly error: AppError;
  readonly tenantId: string;
}

export interface RateLimit {
  readonly all: readonly Policy[];
  readonly default: Policy;
  /**
   * Returns the policy that a route counts against in addition to the default policy. For GET routes without a policy
   * of their own, that is the default policy itself.
   */
  policyOf(route: { readonly method: string; readonly rate?: RateName }): Policy;
  /** Returns how to refuse the key or session again if it was refused less than a second ago. Needs no query. */
  refusalOf(digest: Buffer, own: Policy): Refusal | undefined;
  /**
   * Returns the RateLimit headers of the response. Throws rateLimited if the database did not admit the request. `digests`:
   * those of the key and of the session, under which the refusal is found again.
   */
  settle(digests: readonly Buffer[], own: Policy, caller: CallerRow): Headers;
}

type Config = Pick<ApiDeps, "config" | "clock">;

export function makeRateLimit({ config, clock, registry }: Config & { registry: Registry }): RateLimit {
  const policies = makePolicies(config);
  const counter = new Counter({
    name: "plosive_rate_limited_total",
    help: "Requests refused with 429, by the rate limit that they exceeded",
    labelNames: ["policy"],
    registers: [registry],
  });
  const refusals = makeRefusals(clock, (policy) => counter.inc({ policy: policy.name }));
  return {
    all: names.map((name) => policies[name]),
    default: policies.default,
    policyOf: (route) => policies[route.rate ?? (route.method === "GET" ? "default" : "writes")],
    refusalOf: (digest, own) =>
      refusals.find(digest, policies.default) ??
      (own === policies.default ? undefined : refusals.find(digest, own)),
    settle: (digests, own, caller) => {
      const states = [{ policy: policies.default, used: caller.used ?? 0 }];
      if (own !== policies.default) states.push({ policy: own, used: caller.policy_used ?? 0 });
      const limited = states.filter(({ policy }) => policy.perMinute > 0);
      const headers = headersOf(limited);
      if (caller.admitted) return headers;
      const waits = limited.map(({ policy, used }) => ({ policy, wait: waitOf(policy, used) }));
      const { policy, wait } = waits.reduce((a, b) => (b.wait > a.wait ? b : a));
      throw refusals.refuse({ digests, policy, seconds: wait, headers, tenantId: caller.tenant_id });
    },
  };
}

function makePolicies(config: Config["config"]): Record<RateName, Policy> {
  const perMinute: Record<RateName, number> = {
    default: config.PLOSIVE_RATE_PER_MINUTE,
    writes: config.PLOSIVE_RATE_WRITES_PER_MINUTE,
    uploads: config.PLOSIVE_RATE_UPLOADS_PER_MINUTE,
    keys: config.PLOSIVE_RATE_KEYS_PER_MINUTE,
    trainings: config.PLOSIVE_RATE_TRAININGS_PER_MINUTE,
  };
  const policies = names.map((name, i) => {
    // The burst of all other policies is the number of requests in a minute.
    const burst = name === "default" ? config.PLOSIVE_RATE_BURST : perMinute[name];
    const gap = perMinute[name] === 0 ? 0 : 60 / perMinute[name];
    const rate = { gap, span: gap === 0 ? Number.POSITIVE_INFINITY : burst * gap };
    return [name, { name, number: i + 1, perMinute: perMinute[name], rate }];
  });
  return Object.fromEntries(policies) as Record<RateName, Policy>;
}

/** Returns the seconds until the policy admits one more request. */
const waitOf = ({ rate }: Policy, used: number) => used + rate.gap - rate.span;

interface State {
  readonly policy: Policy;
  /** Seconds until the full burst is free again. */
  readonly used: number;
}

/** Headers of draft-ietf-httpapi-ratelimit-headers-10, and the three older headers of its drafts up to 06. */
function headersOf(states: readonly State[]): Headers {
  if (states.length === 0) return {};
  const lines = states.map(({ policy, used }) => ({
    policy,
    // The clock of the database counts in microseconds. 1e-3 of a request compensates for its rounding.
    remaining: Math.max(0, Math.floor((policy.rate.span - used) / policy.rate.gap + 1e-3)),
    reset: Math.ceil(used),
  }));
  const tightest = lines.reduce((a, b) => (b.remaining < a.remaining ? b : a));
  return {
    "RateLimit-Policy": lines.map(({ policy }) => `"${policy.name}";q=${policy.perMinute};w=60`).join(", "),
    RateLimit: lines.map((line) => `"${line.policy.name}";r=${line.remaining};t=${line.reset}`).join(", "),
    "RateLimit-Limit": String(tightest.policy.perMinute),
    "RateLimit-Remaining": String(tightest.remaining),
    "RateLimit-Reset": String(tightest.reset),
  };
}

interface RefusedRequest {
  readonly digests: readonly Buffer[];
  readonly policy: Policy;
  readonly seconds: number;
  readonly headers: Headers;
  readonly tenantId: string;
}

/**
 * A cache of refused keys in this process. An entry lives for at most a second, because a revoked key that is in the
 * cache gets 429 instead of 401.
 */
function makeRefusals(clock: { now(): number }, count: (policy: Policy) => void, maxEntries = 10_000) {
  const known = new Map<string, { until: number; freeAt: number; headers: Headers; tenantId: string }>();
  const idOf = (hash: Buffer, policy: Policy) => `${policy.name} ${hash.toString("base64")}`;
  return {
    find(hash: Buffer, policy: Policy): Refusal | undefined {
      if (known.size === 0) return;
      const id = idOf(hash, policy);
      const refusal = known.get(id);
      if (refusal === undefined) return;
      const { until, freeAt, headers, tenantId } = refusal;
      const now = clock.now();
      if (now < until) {
        count(policy);
        // The wait of the first refusal minus the time since then. The end of the cache entry would be too early: the
        // database would refuse the request again.
        return { error: rateLimited((freeAt - now) / 1000, headers), tenantId };
      }
      known.delete(id);
    },
    refuse({ digests, policy, seconds, headers, tenantId }: RefusedRequest): AppError {
      count(policy);
      if (known.size >= maxEntries) known.clear();
      const now = clock.now();
      const until = now + Math.min(seconds, 1) * 1000;
      const refusal = { until, freeAt: now + seconds * 1000, headers, tenantId };
      for (const digest of digests) known.set(idOf(digest, policy), refusal);
      return rateLimited(seconds, headers);
    },
  };
}
