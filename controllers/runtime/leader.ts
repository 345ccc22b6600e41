// Leader election with a Lease: one replica writes, the others wait with warm caches. Another's lease counts as expired
// by the time since we saw it change, never by the clock of another machine. Started by controllers/operator.ts.
import type { Kube } from "../../src/kube/client.ts";
import { isAlreadyExists, isConflict } from "../../src/kube/errors.ts";
import { leases } from "../../src/kube/kinds.ts";
import type { Lease } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";
import { pause } from "./pause.ts";

export type LeaderOptions = {
  kube: Kube;
  namespace: string;
  name: string;
  /** Unique to this process: a restarted container must not take its predecessor's lease for its own. */
  identity: string;
  log: Log;
  durationMs?: number;
  /** Without a renewal for this time the lead is given up, before others may take it. */
  deadlineMs?: number;
  periodMs?: number;
};

export type Elector = {
  leads(): boolean;
  /** Resolves when this process becomes the leader. */
  elected: Promise<void>;
  /** Resolves when a lead was lost; the process must end at once. Never after stop(). */
  lost: Promise<void>;
  /** Gives the lease back, so that a standby takes over within a period. */
  stop(): Promise<void>;
};

export function startElector(options: LeaderOptions): Elector {
  const { kube, namespace, name, identity, log } = options;
  const { durationMs = 15_000, deadlineMs = 10_000, periodMs = 2_000 } = options;
  const ref = { namespace, name };
  const stop = new AbortController();
  const { promise: elected, resolve: becomeLeader } = Promise.withResolvers<void>();
  const { promise: lost, resolve: loseLead } = Promise.withResolvers<void>();
  let held: Lease | undefined;
  let seen: { version: string | undefined; at: number } | undefined;
  let renewedAt = 0;
  let expiry: NodeJS.Timeout | undefined;
  /** So that a request that nobody answers leaves time for another, and none waits for the reconciles' requests. */
  const call = { timeoutMs: Math.min(5_000, deadlineMs / 2), urgent: true };

  /** One try to take or renew the lease. True when it is ours. */
  const tryOnce = async (): Promise<boolean> => {
    const lease = held ?? (await kube.find(leases, ref, call));
    const now = microTime();
    const ours = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      renewTime: now,
    };
    if (lease === undefined) {
      const spec = { ...ours, acquireTime: now, leaseTransitions: 0 };
      held = await kube.create(leases, { metadata: ref, spec }, call);
      return true;
    }
    const holder = lease.spec?.holderIdentity;
    if (holder !== identity && holder) {
      const version = lease.metadata.resourceVersion;
      if (seen === undefined || seen.version !== version) seen = { version, at: performance.now() };
      if (performance.now() - seen.at < durationMs) return false;
    }
    const taken =
      holder === identity
        ? {}
        : { acquireTime: now, leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1 };
    const next = { ...lease, spec: { ...lease.spec, ...ours, ...taken } };
    held = await kube.replace(leases, next, call);
    return true;
  };

  const lose = (why: string) => {
    if (stop.signal.aborted) return;
    stop.abort();
    clearTimeout(expiry);
    log.error({ lease: name }, why);
    loseLead();
  };

  /** A clock of its own: a renewal that hangs must not hide that the lease is over. */
  const renewed = (at: number) => {
    renewedAt = at;
    clearTimeout(expiry);
    const leftMs = deadlineMs - (performance.now() - at);
    expiry = setTimeout(() => lose("the lease is lost: it could not be renewed in time"), leftMs);
  };

  /** Until the next try. Who waits looks more often, and just when the other's lease expires. */
  const waitMs = (leading: boolean): number => {
    if (leading) return periodMs;
    const leftMs = seen === undefined ? 0 : durationMs - (performance.now() - seen.at);
    return Math.min(periodMs / 2, leftMs > 0 ? leftMs + 1 : periodMs);
  };

  const loop = async () => {
    let leading = false;
    while (!stop.signal.aborted) {
      const began = performance.now();
      try {
        if (await tryOnce()) {
          if (stop.signal.aborted) return;
          renewed(began);
          if (!leading) {
            leading = true;
            log.info({ lease: name, identity }, "this replica leads");
            becomeLeader();
          }
        } else if (leading) {
          return lose("the lease is lost: another replica holds it");
        }
      } catch (error) {
        held = undefined;
        const race = isConflict(error) || isAlreadyExists(error);
        const err = error instanceof Error ? error.message : String(error);
        if (!race) log.warn({ lease: name, err }, "could not take or renew the lease; trying again");
      }
      await pause(waitMs(leading), stop.signal);
    }
  };
  const running = loop();

  return {
    leads: () => renewedAt > 0 && performance.now() - renewedAt < deadlineMs && !stop.signal.aborted,
    elected,
    lost,
    async stop() {
      stop.abort();
      clearTimeout(expiry);
      await running;
      // Also one that was taken just now.
      if (held === undefined) return;
      const spec = { ...held.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime() };
      await kube.replace(leases, { ...held, spec }, { ...call, timeoutMs: 2_000 }).catch((error: unknown) => {
        log.warn({ lease: name, err: String(error) }, "could not give the lease back; it expires by itself");
      });
      held = undefined;
    },
  };
}

/** V1MicroTime: exactly six fractional digits, else the API server answers 400 to every renewal. */
function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
