// Rate limits per tenant: the policy of each route, the RateLimit headers, and a short cache of refused tenants, which
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
  /**
   * Returns how to refuse a key or session again if its tenant was refused less than a second ago, under whichever of its
   * keys and sessions. Needs no query. `session`: a session of the key, whose tenant is then remembered too.
   */
  refusalOf(digest: Buffer, own: Policy, session?: Buffer | null): Refusal | undefined;
  /**
   * Returns the RateLimit headers of the response. Throws rateLimited if the database did not admit the request. `digests`:
   * those of the key and of the session, whose tenant is remembered for refusalOf.
   */
  settle(digests: readonly Buffer[], own: Policy, caller: CallerRow): Headers;
}

type Deps = Pick<ApiDeps, "config" | "clock" | "listener"> & { readonly registry: Registry };

export function makeRateLimit({ config, clock, listener, registry }: Deps): RateLimit {
  const policies = makePolicies(config);
  const counter = new Counter({
    name: "plosive_rate_limited_total",
    help: "Requests refused with 429, by the rate limit that they exceeded",
    labelNames: ["policy"],
    registers: [registry],
  });
  const refusals = makeRefusals(clock, (policy) => counter.inc({ policy: policy.name }));
  const owners = makeOwners(clock);
  listener.on("plosive_keys", owners.forget);
  return {
    all: names.map((name) => policies[name]),
    default: policies.default,
    policyOf: (route) => policies[route.rate ?? (route.method === "GET" ? "default" : "writes")],
    refusalOf: (digest, own, session = null) => {
      const owner = refusals.isEmpty() ? undefined : owners.find(digest);
      if (owner === undefined) return;
      const { tenantId, until } = owner;
      if (session !== null) owners.remember(session, tenantId, until);
      return (
        refusals.find(tenantId, policies.default) ??
        (own === policies.default ? undefined : refusals.find(tenantId, own))
      );
    },
    settle: (digests, own, caller) => {
      for (const digest of digests) owners.remember(digest, caller.tenant_id);
      const states = [{ policy: policies.default, used: caller.used ?? 0 }];
      if (own !== policies.default) states.push({ policy: own, used: caller.policy_used ?? 0 });
      const limited = states.filter(({ policy }) => policy.perMinute > 0);
      const headers = headersOf(limited);
      if (caller.admitted) return headers;
      const waits = limited.map(({ policy, used }) => ({ policy, wait: waitOf(policy, used) }));
      const { policy, wait } = waits.reduce((a, b) => (b.wait > a.wait ? b : a));
      throw refusals.refuse(caller.tenant_id, policy, wait, headers);
    },
  };
}

function makePolicies(config: Deps["config"]): Record<RateName, Policy> {
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

/** Upper bound of what each of the two caches remembers. */
const maxEntries = 10_000;
const ownerLifeMs = 5_000;

/** A cache of refused tenants in this process. An entry lives for at most a second. */
function makeRefusals(clock: { now(): number }, count: (policy: Policy) => void) {
  const known = new Map<string, { until: number; freeAt: number; headers: Headers }>();
  const idOf = (tenantId: string, policy: Policy) => `${policy.name} ${tenantId}`;
  return {
    isEmpty: () => known.size === 0,
    find(tenantId: string, policy: Policy): Refusal | undefined {
      const id = idOf(tenantId, policy);
      const refusal = known.get(id);
      if (refusal === undefined) return;
      const { until, freeAt, headers } = refusal;
      const now = clock.now();
      if (now < until) {
        count(policy);
        // The wait of the first refusal minus the time since then. The end of the cache entry would be too early: the
        // database would refuse the request again.
        return { error: rateLimited((freeAt - now) / 1000, headers), tenantId };
      }
      known.delete(id);
    },
    refuse(tenantId: string, policy: Policy, seconds: number, headers: Headers): AppError {
      count(policy);
      if (known.size >= maxEntries) known.clear();
      const now = clock.now();
      const until = now + Math.min(seconds, 1) * 1000;
      known.set(idOf(tenantId, policy), { until, freeAt: now + seconds * 1000, headers });
      return rateLimited(seconds, headers);
    },
  };
}

interface Owner {
  readonly tenantId: string;
  readonly until: number;
}

/**
 * Remembers whose keys and sessions the database knew, only to refuse them: they are never admitted by it. A revoked key that it
 * remembers gets 429 instead of 401, so it forgets all when a key is revoked, and each soon in case the notification is lost.
 */
function makeOwners(clock: { now(): number }) {
  const known = new Map<string, Owner>();
  return {
    forget: () => known.clear(),
    find(digest: Buffer): Owner | undefined {
      const owner = known.get(digest.toString("latin1"));
      return owner !== undefined && clock.now() < owner.until ? owner : undefined;
    },
    remember(digest: Buffer, tenantId: string, until = clock.now() + ownerLifeMs): void {
      if (known.size >= maxEntries) known.clear();
      known.set(digest.toString("latin1"), { tenantId, until });
    },
  };
}
