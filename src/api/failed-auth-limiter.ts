// The failed-authentication limiter: limits how many API keys that do not work one address may try per second. Requests
// over the limit are refused without a query. A key that worked in this process before is not refused, so an attacker
// cannot lock out clients that share the attacker's address. Called by authenticate.ts.
import { Counter, type Registry } from "prom-client";
import type { Refusal } from "../db/audit.ts";
import type { ApiDeps } from "./deps.ts";

export interface FailedAuthLimiter {
  /** Returns the seconds until the address may try another key; 0: now. */
  secondsToWait(ip: string, hash: Buffer): number;
  /** `token`: of a session of the dashboard, a sign-in link, or a sign-in through the OpenID provider. */
  recordFailure(ip: string, hash: Buffer, reason: Refusal["reason"] | "token"): void;
  recordSuccess(hash: Buffer): void;
  /** Whether to record this failure in the audit log, which takes only a few failures per second. */
  mayAudit(): boolean;
}

/** Upper bound of remembered networks, and of remembered good keys. */
const maxEntries = 10_000;
const auditedPerSecond = 1;
const auditBurst = 20;

export function makeFailedAuthLimiter({
  config,
  clock,
  registry,
}: Pick<ApiDeps, "config" | "clock"> & { registry: Registry }): FailedAuthLimiter {
  const refused = new Counter({
    name: "plosive_refused_keys_total",
    help: "Refused API keys, and tokens of the dashboard (token), by reason; too_many: not checked, because the address had too many failures",
    labelNames: ["reason"],
    registers: [registry],
  });
  const perSecond = config.PLOSIVE_FAILED_KEYS_PER_SECOND;
  const burst = config.PLOSIVE_FAILED_KEYS_BURST;
  // A token bucket per network. The value is the time in ms at which the bucket is full again.
  const fullAt = new Map<string, number>();
  const good = new Set<string>();
  let auditFullAt = 0;
  return {
    secondsToWait: (ip, hash) => {
      const end = fullAt.get(networkOf(ip));
      if (end === undefined || perSecond === 0) return 0;
      const ms = end - clock.now() - ((burst - 1) / perSecond) * 1000;
      if (ms <= 0 || good.has(hash.toString("base64"))) return 0;
      refused.inc({ reason: "too_many" });
      return ms / 1000;
    },
    recordFailure: (ip, hash, reason) => {
      refused.inc({ reason });
      good.delete(hash.toString("base64"));
      if (perSecond === 0) return;
      const now = clock.now();
      if (fullAt.size >= maxEntries) dropExpired(fullAt, now);
      const network = networkOf(ip);
      const end = Math.max(fullAt.get(network) ?? 0, now) + 1000 / perSecond;
      // Requests that arrive at the same instant all pass before the first failure is known, so there can be more
      // failures than the burst. This upper bound keeps them from locking out the address for longer than a burst does.
      fullAt.set(network, Math.min(end, now + (burst / perSecond) * 1000));
    },
    recordSuccess: (hash) => {
      if (perSecond === 0) return;
      const id = hash.toString("base64");
      if (good.has(id)) return;
      if (good.size >= maxEntries) good.clear();
      good.add(id);
    },
    mayAudit: () => {
      const end = Math.max(auditFullAt, clock.now()) + 1000 / auditedPerSecond;
      if (end - clock.now() > (auditBurst / auditedPerSecond) * 1000) return false;
      auditFullAt = end;
      return true;
    },
  };
}

/**
 * Returns the network of an address: the address itself for IPv4, the first 64 bits for IPv6, because one client has
 * all addresses behind those.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(":")) return ip;
  const [before = [], after = []] = ip.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}

/**
 * Deletes expired entries, and all entries if the map is still full then: this limiter cannot stop an attacker with
 * that many addresses, but must not let the attacker fill the memory.
 */
function dropExpired(fullAt: Map<string, number>, now: number): void {
  for (const [network, end] of fullAt) if (end <= now) fullAt.delete(network);
  if (fullAt.size >= maxEntries) fullAt.clear();
}
