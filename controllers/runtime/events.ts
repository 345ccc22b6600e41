// Writes events.k8s.io/v1 events, which `kubectl describe` shows. An event that cannot be written is dropped: nothing
// depends on it. The same words about the same object are not repeated for a while. Used by reconcilers on the leader.
import type { Kube } from "../../src/kube/client.ts";
import { events } from "../../src/kube/kinds.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";

export type EventWords = { type: "Normal" | "Warning"; reason: string; action: string; note: string };
export type Recorder = { record(object: KubeObject, words: EventWords): void; flush(): Promise<void> };

const quietMs = 300_000;
const maxInFlight = 16;

export function makeRecorder(options: {
  kube: Kube;
  log: Log;
  instance: string;
  now: () => number;
  random: () => number;
}): Recorder {
  const { kube, log, instance, now, random } = options;
  const said = new Map<string, number>();
  const inFlight = new Set<Promise<void>>();

  return {
    record(object, words) {
      const { name, namespace, uid } = object.metadata;
      const key = `${uid} ${words.reason} ${words.note}`;
      const at = now();
      if (at - (said.get(key) ?? 0) < quietMs || inFlight.size >= maxInFlight) return;
      said.set(key, at);
      if (said.size > 5_000) for (const [old, time] of said) if (at - time > quietMs) said.delete(old);
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
        action: words.action,
        reason: words.reason,
        note: words.note.slice(0, 1000),
        type: words.type,
        regarding: { apiVersion: object.apiVersion ?? "", kind: object.kind ?? "", namespace, name, uid },
      };
      const write = kube
        .create(events, event)
        .then(() => undefined)
        .catch((error: unknown) => log.debug({ err: String(error), event: words }, "an event was dropped"))
        .finally(() => inFlight.delete(write));
      inFlight.add(write);
    },
    async flush() {
      await Promise.all(inFlight);
    },
  };
}
