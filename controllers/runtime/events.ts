// Writes events.k8s.io/v1 events, which `kubectl describe` shows. Only a few writes run at a time, so that events do
// not slow down a thousand jobs at once. An event is tried a few times while the API server does not answer, and then
// dropped, because nothing depends on it. An identical event about the same object is suppressed for five minutes. Used
// by the reconcilers on the leader.
import type { Kube } from "../../src/kube/client.ts";
import { isAlreadyExists, isUnreachable } from "../../src/kube/errors.ts";
import { events } from "../../src/kube/kinds.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";
import { pause } from "./pause.ts";

export type EventContent = { type: "Normal" | "Warning"; reason: string; action: string; note: string };
export type Recorder = {
  /** Queues an event. Drops it when the queue is full. */
  record(object: KubeObject, content: EventContent): void;
  /** Waits up to one second for queued events, then drops the rest. Call it last. */
  flush(): Promise<void>;
};

const quietMs = 300_000;
const flushMs = 1_000;
const atOnce = 2;
const maxAttempts = 5;
/** Grows with each attempt. */
const retryMs = 1_000;
const maxWaiting = 5_000;

export function makeRecorder(options: {
  kube: Kube;
  log: Log;
  instance: string;
  now: () => number;
  random: () => number;
}): Recorder {
  const { kube, log, instance, now, random } = options;
  /** Recent events and when they were recorded, in the order of their times. */
  const recent = new Map<string, number>();
  const waiting: (KubeObject & { reason: string })[] = [];
  const writers = new Set<Promise<void>>();
  const flushed = new AbortController();

  const write = async (): Promise<void> => {
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) await send(event, 1);
  };

  const send = async (event: (typeof waiting)[number], attempt: number): Promise<void> => {
    try {
      await kube.create(events, event);
    } catch (error) {
      if (isUnreachable(error) && attempt < maxAttempts && !flushed.signal.aborted) {
        await pause(attempt * retryMs, flushed.signal);
        return send(event, attempt + 1);
      }
      if (!isAlreadyExists(error))
        log.debug({ err: String(error), reason: event.reason }, "an event was dropped");
    }
  };

  return {
    record(object, content) {
      const { name, namespace, uid } = object.metadata;
      const key = `${uid} ${content.reason} ${content.note}`;
      const at = now();
      for (const [old, time] of recent) {
        if (at - time < quietMs) break;
        recent.delete(old);
      }
      if (recent.has(key) || waiting.length >= maxWaiting) return;
      recent.set(key, at);
      const suffix =
        at.toString(16) +
        Math.floor(random() * 2 ** 32)
          .toString(16)
          .padStart(8, "0");
      const event = {
        metadata: { namespace, name: `${name}.${suffix}` },
        eventTime: new Date(at).toISOString().replace("Z", "000Z"),
        reportingController: "plosive.dev/operator",
        reportingInstance: instance.slice(0, 128),
        action: content.action,
        reason: content.reason,
        note: content.note.slice(0, 1000),
        type: content.type,
        regarding: { apiVersion: object.apiVersion ?? "", kind: object.kind ?? "", namespace, name, uid },
      };
      waiting.push(event);
      if (writers.size >= atOnce) return;
      const writer = write().finally(() => writers.delete(writer));
      writers.add(writer);
    },
    async flush() {
      const timer = setTimeout(() => {
        waiting.splice(0);
        flushed.abort();
      }, flushMs);
      await Promise.all(writers);
      clearTimeout(timer);
    },
  };
}
