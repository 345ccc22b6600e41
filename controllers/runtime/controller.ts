// Runs a reconcile function over the keys of a workqueue, several at a time, and requeues each key according to the
// outcome. Independent of the kind. Started by controllers/controllers.ts on the leader.
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";
import { makeSlices } from "../../src/slices.ts";
import type { ReconcileResult, RuntimeMetrics } from "./metrics.ts";
import { type Outcome, RetryError, TerminalError } from "./outcome.ts";
import type { Change, Store } from "./store.ts";
import type { Priority, Workqueue } from "./workqueue.ts";

/** What a change adds to the queue: a key, its priority ("event" by default), and how long it waits. */
export type Request = { key: string; priority?: Priority; afterMs?: number };
/** Fills a queue from one store: `follow` from its changes, `addAll` from the objects that it has. */
export type Watch = { follow(queue: Workqueue): void; addAll(queue: Workqueue): void };

export function watch<T extends KubeObject>(
  store: Store<T>,
  toRequest: (change: Change<T>) => Request | undefined,
): Watch {
  const add = (queue: Workqueue, change: Change<T>) => {
    const request = toRequest(change);
    if (request?.afterMs !== undefined) queue.addAfter(request.key, request.afterMs);
    else if (request !== undefined) queue.add(request.key, request.priority);
  };
  return {
    follow: (queue) => store.onChange((change) => add(queue, change)),
    addAll(queue) {
      for (const object of store.values()) add(queue, { object, old: undefined, deleted: false });
    },
  };
}

export type ControllerOptions = {
  name: string;
  queue: Workqueue;
  /** The first one is of the controller's own kind: all of its objects are reconciled at the start. */
  watches: readonly Watch[];
  concurrency: number;
  reconcile: (key: string) => Promise<Outcome>;
  log: Log;
  metrics: RuntimeMetrics;
};

export type Controller = {
  /** Takes no new key and waits for running reconciles, at most `drainMs`. */
  stop(drainMs?: number): Promise<void>;
};

export function startController(options: ControllerOptions): Controller {
  const { name, queue, concurrency, reconcile, metrics } = options;
  const log = options.log.child({ controller: name });
  metrics.setConcurrency(name, concurrency);
  metrics.watchQueue(name, queue);
  for (const one of options.watches) one.follow(queue);
  options.watches[0]?.addAll(queue);

  const workOn = async (key: string): Promise<void> => {
    const began = performance.now();
    let result: ReconcileResult = "success";
    metrics.reconcileStarted(name);
    try {
      const { requeueAfterMs } = await reconcile(key);
      queue.forget(key);
      if (requeueAfterMs !== undefined) {
        queue.addAfter(key, requeueAfterMs);
        result = "requeue_after";
      }
    } catch (error) {
      if (error instanceof TerminalError) {
        queue.forget(key);
        log.error({ key, err: error }, "reconcile failed; no retry until the object changes");
        result = "terminal_error";
      } else {
        const waitMs = Math.round(queue.addAfterFailure(key));
        const expected = error instanceof RetryError;
        const details = { key, waitMs, err: expected ? error.message : error };
        if (expected) log.info(details, "reconcile did not finish; retrying");
        else log.warn(details, "reconcile failed; retrying");
        result = expected ? "requeue" : "error";
      }
    } finally {
      metrics.reconcileEnded(name, result, (performance.now() - began) / 1000);
      queue.done(key);
    }
  };

  // Reconciles of a hundred thousand ended jobs wait for nothing. They must not hold up the renewal of the lease.
  const nextSlice = makeSlices();
  const worker = async (): Promise<void> => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      await workOn(key);
      await nextSlice();
    }
  };
  const workers = Promise.all(Array.from({ length: concurrency }, worker));

  return {
    async stop(drainMs = 30_000) {
      queue.close();
      const { promise: timeout, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, drainMs);
      await Promise.race([workers, timeout]);
      clearTimeout(timer);
    },
  };
}
