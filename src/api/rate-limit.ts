// Rates of requests for each tenant: which policy a route falls under, what the answer's headers say, and
// a short memory of who was refused, so that a flood does not reach the database. The counting is in the database
// (admit_caller, migration 0005). Called by authenticate.ts.
import { Counter, type Registry } from "prom-client";
import type { CallerRow, Rate } from "../db/api-key.ts";
import { type AppError, rateLimited } from "../errors.ts";
import type { ApiDeps } from "./deps.ts";

export type RateName = "default" | "writes" | "uploads" | "keys" | "trainings";

/** In the order of the numbers that the database knows them by. */
const names: readonly RateName[] = ["default", "writes", "uploads", "keys", "trainings"];

export interface Policy {
  readonly name: RateName;
  readonly number: number;
  /** 0: no limit. */
  readonly perMinute: number;
  readonly rate: Rate;
}

export type Headers = Readonly<Record<string, string>>;

export interface RateLimit {
  readonly all: readonly Policy[];
  readonly default: Policy;
  /** What a route counts against besides the default policy; the default one for routes that only read. */
  policyOf(route: { readonly method: string; readonly rate?: RateName }): Policy;
  /** Throws rateLimited, without a look into the database, at who was refused less than a second ago. */
  checkMemory(hash: Buffer, own: Policy): void;
  /** The headers of the answer; throws rateLimited when the request is one too many. */
  settle(hash: Buffer, own: Policy, caller: CallerRow): Headers;
}

type Config = Pick<ApiDeps, "config" | "clock">;

export function makeRateLimit({ config, clock, registry }: Config & { registry: Registry }): RateLimit {
  const policies = makePolicies(config);
  const counter = new Counter({
    name: "plosive_rate_limited_total",
    help: "Requests that were one too many, by the rate that they broke",
    labelNames: ["policy"],
    registers: [registry],
  });
  const refusals = makeRefusals(clock, (policy) => counter.inc({ policy: policy.name }));
  return {
    all: names.map((name) => policies[name]),
    default: policies.default,
    policyOf: (route) => policies[route.rate ?? (route.method === "GET" ? "default" : "writes")],
    checkMemory: (hash, own) => {
      refusals.check(hash, policies.default);
      if (own !== policies.default) refusals.check(hash, own);
    },
    settle: (hash, own, caller) => {
      const states = [{ policy: policies.default, used: caller.used ?? 0 }];
      if (own !== policies.default) states.push({ policy: own, used: caller.policy_used ?? 0 });
      const limited = states.filter(({ policy }) => policy.perMinute > 0);
      const headers = headersOf(limited);
      if (caller.admitted) return headers;
      const waits = limited.map(({ policy, used }) => ({ policy, wait: waitOf(policy, used) }));
      const { policy, wait } = waits.reduce((a, b) => (b.wait > a.wait ? b : a));
      throw refusals.refuse(hash, policy, wait, headers);
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
    // A minute's worth at once, if nothing else is said.
    const burst = name === "default" ? config.PLOSIVE_RATE_BURST : perMinute[name];
    const gap = perMinute[name] === 0 ? 0 : 60 / perMinute[name];
    const rate = { gap, span: gap === 0 ? Number.POSITIVE_INFINITY : burst * gap };
    return [name, { name, number: i + 1, perMinute: perMinute[name], rate }];
  });
  return Object.fromEntries(policies) as Record<RateName, Policy>;
}

/** Seconds until the policy has room for one request more. */
const waitOf = ({ rate }: Policy, used: number) => used + rate.gap - rate.span;

interface State {
  readonly policy: Policy;
  /** Seconds until the full burst is free again. */
  readonly used: number;
}

/** As draft-ietf-httpapi-ratelimit-headers-10 writes them, and the three headers of its drafts up to 06. */
function headersOf(states: readonly State[]): Headers {
  if (states.length === 0) return {};
  const lines = states.map(({ policy, used }) => ({
    policy,
    // The clock of the database has microseconds; what is only their rounding counts as free.
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

/**
 * Who was refused and until when, in this process. For a second at most: meanwhile a revoked key is told 429 and not
 * 401, and no longer.
 */
function makeRefusals(clock: { now(): number }, count: (policy: Policy) => void, most = 10_000) {
  const known = new Map<string, { until: number; freeAt: number; headers: Headers }>();
  const idOf = (hash: Buffer, policy: Policy) => `${policy.name} ${hash.toString("base64")}`;
  return {
    check(hash: Buffer, policy: Policy): void {
      if (known.size === 0) return;
      const id = idOf(hash, policy);
      const refusal = known.get(id);
      if (refusal === undefined) return;
      const now = clock.now();
      if (now < refusal.until) {
        count(policy);
        // What was told first, less the time since: not the end of this memory, at which it would be refused again.
        throw rateLimited((refusal.freeAt - now) / 1000, refusal.headers);
      }
      known.delete(id);
    },
    refuse(hash: Buffer, policy: Policy, seconds: number, headers: Headers): AppError {
      count(policy);
      if (known.size >= most) known.clear();
      const now = clock.now();
      const until = now + Math.min(seconds, 1) * 1000;
      known.set(idOf(hash, policy), { until, freeAt: now + seconds * 1000, headers });
      return rateLimited(seconds, headers);
    },
  };
}
