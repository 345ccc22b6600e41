// Leader election with a Lease: the leader writes, standbys wait with warm caches. The lease of another replica counts
// as expired when it has not changed for its duration on the local clock; clocks of other machines are never compared.
// Started by controllers/operator.ts.
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
  /** Unique to this process: a restarted container must not mistake its predecessor's lease for its own. */
  identity: string;
  log: Log;
  durationMs?: number;
  /** The leader steps down after this time without a renewal, before another replica may take the lease. */
  deadlineMs?: number;
  periodMs?: number;
};

export type Elector = {
  leads(): boolean;
  /** Resolves with the uid of the Lease when this process becomes the leader. */
  elected: Promise<string>;
  /** Resolves when the lease is lost; the process must exit at once. Never resolves after stop(). */
  lost: Promise<void>;
  /** Releases the lease, so that a standby takes over within one period. */
  stop(): Promise<void>;
};

export function startElector(options: LeaderOptions): Elector {
  const { kube, namespace, name, identity, log } = options;
  const { durationMs = 15_000, deadlineMs = 10_000, periodMs = 2_000 } = options;
  const ref = { namespace, name };
  const stop = new AbortController();
  const { promise: elected, resolve: becomeLeader } = Promise.withResolvers<string>();
  const { promise: lost, resolve: loseLead } = Promise.withResolvers<void>();
  let held: Lease | undefined;
  let seen: { version: string | undefined; at: number } | undefined;
  let renewedAt = 0;
  let expiry: NodeJS.Timeout | undefined;
  /** The timeout leaves time for a second request. `urgent` requests do not wait behind those of the reconciles. */
  const call = { timeoutMs: Math.min(5_000, deadlineMs / 2), urgent: true };

  /** Tries once to take or renew the lease. Returns whether this replica holds it. */
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

  /** Restarts the expiry timer. It runs on its own, so that the lease is lost in time even while a renewal hangs. */
  const renewed = (at: number) => {
    renewedAt = at;
    clearTimeout(expiry);
    const leftMs = deadlineMs - (performance.now() - at);
    expiry = setTimeout(() => lose("the lease is lost: it was not renewed in time"), leftMs);
  };

  /** Milliseconds until the next try. A standby tries more often, and exactly when the other lease expires. */
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
            becomeLeader(held?.metadata.uid ?? "");
          }
        } else if (leading) {
          return lose("the lease is lost: another replica holds it");
        }
      } catch (error) {
        held = undefined;
        const race = isConflict(error) || isAlreadyExists(error);
        const err = error instanceof Error ? error.message : String(error);
        if (!race) log.warn({ lease: name, err }, "could not take or renew the lease; retrying");
      }
      await pause(waitMs(leading), stop.signal);
    }
  };
  const running = loop();

  const release = async (): Promise<void> => {
    const quickly = { ...call, timeoutMs: 2_000 };
    const lease = held ?? (await kube.find(leases, ref, quickly));
    held = undefined;
    if (lease?.spec?.holderIdentity !== identity) return;
    const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime() };
    await kube.replace(leases, { ...lease, spec }, quickly);
  };

  return {
    leads: () => renewedAt > 0 && performance.now() - renewedAt < deadlineMs && !stop.signal.aborted,
    elected,
    lost,
    async stop() {
      stop.abort();
      clearTimeout(expiry);
      await running;
      // `held` may also be a lease that the last try took after stop() began. After a request without an answer only the API
      // server knows who holds the lease.
      await release()
        .catch(release)
        .catch((error: unknown) => {
          log.warn({ lease: name, err: String(error) }, "could not release the lease; it expires by itself");
        });
    },
  };
}

/**
 * Current time as V1MicroTime: with exactly six fractional digits, else the API server answers every renewal with 400.
 */
function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
