// Addresses from which keys come that open nothing: each may try some in a second, more are refused before the database
// is asked. Keys that were good in this process a while ago pass in any case, so that nobody is locked out by whoever
// shares an address with him. Called by authenticate.ts.
import { Counter, type Registry } from "prom-client";
import type { Refusal } from "../db/audit.ts";
import type { ApiDeps } from "./deps.ts";

export interface FailedAuthLimiter {
  /** Seconds to wait before the address may try another key; 0: it may. */
  secondsToWait(ip: string, hash: Buffer): number;
  recordFailure(ip: string, hash: Buffer, reason: Refusal["reason"]): void;
  recordSuccess(hash: Buffer): void;
  /** Whether this failure is among the few of each second that are written to the audit log. */
  mayAudit(): boolean;
}

const most = 10_000;
const notedPerSecond = 1;
const notedAtOnce = 20;

export function makeFailedAuthLimiter({
  config,
  clock,
  registry,
}: Pick<ApiDeps, "config" | "clock"> & { registry: Registry }): FailedAuthLimiter {
  const refused = new Counter({
    name: "plosive_refused_keys_total",
    help: "API keys that opened nothing, by reason; too_many: not looked at, because of others from that address",
    labelNames: ["reason"],
    registers: [registry],
  });
  const perSecond = config.PLOSIVE_FAILED_KEYS_PER_SECOND;
  const burst = config.PLOSIVE_FAILED_KEYS_BURST;
  // For each place the time, in ms, at which all its failures are forgotten.
  const forgottenAt = new Map<string, number>();
  const good = new Set<string>();
  let notesForgottenAt = 0;
  return {
    secondsToWait: (ip, hash) => {
      const end = forgottenAt.get(placeOf(ip));
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
      if (forgottenAt.size >= most) dropOld(forgottenAt, now);
      const place = placeOf(ip);
      const end = Math.max(forgottenAt.get(place) ?? 0, now) + 1000 / perSecond;
      // Those that were let through at the same instant are more than the burst, and would shut out whoever shares the
      // address with them for as long as there were of them.
      forgottenAt.set(place, Math.min(end, now + (burst / perSecond) * 1000));
    },
    recordSuccess: (hash) => {
      if (perSecond === 0) return;
      const id = hash.toString("base64");
      if (good.has(id)) return;
      if (good.size >= most) good.clear();
      good.add(id);
    },
    mayAudit: () => {
      const end = Math.max(notesForgottenAt, clock.now()) + 1000 / notedPerSecond;
      if (end - clock.now() > (notedAtOnce / notedPerSecond) * 1000) return false;
      notesForgottenAt = end;
      return true;
    },
  };
}

/** Of IPv6 the first 64 bits: whoever has one address behind them has all of them. */
function placeOf(ip: string): string {
  if (!ip.includes(":")) return ip;
  const [before = [], after = []] = ip.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}

/** All of them if none is old: an attacker with so many addresses is not stopped by this, and must not fill the memory. */
function dropOld(forgottenAt: Map<string, number>, now: number): void {
  for (const [place, end] of forgottenAt) if (end <= now) forgottenAt.delete(place);
  if (forgottenAt.size >= most) forgottenAt.clear();
}
