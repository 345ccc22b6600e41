// Watches the Jobs of a namespace and records when each was first seen and when it was seen complete. An observation is
// later than the change, so durations that end here are upper bounds. Called by flood.ts and kueue.ts.
import type { Kube } from "../../../src/kube/client.ts";
import { jobs } from "../../../src/kube/kinds.ts";
import type { Job } from "../../../src/kube/objects.ts";

export interface Observer {
  /** Keys are names of Jobs, values are in ms of performance.now(). */
  readonly created: ReadonlyMap<string, number>;
  readonly unsuspended: ReadonlyMap<string, number>;
  readonly complete: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

export async function observe(kube: Kube, namespace: string): Promise<Observer> {
  const [created, unsuspended, complete] = [1, 2, 3].map(() => new Map<string, number>()) as [
    Map<string, number>,
    Map<string, number>,
    Map<string, number>,
  ];
  const note = (map: Map<string, number>, name: string, at: number) => {
    if (!map.has(name)) map.set(name, at);
  };
  const see = (job: Job, at: number) => {
    const { name } = job.metadata;
    note(created, name, at);
    if (!job.spec.suspend) note(unsuspended, name, at);
    if (job.status?.conditions?.some(({ type, status }) => type === "Complete" && status === "True"))
      note(complete, name, at);
  };
  const stopped = new AbortController();
  const { metadata } = await kube.list(jobs, namespace, { limit: 1 });
  let resourceVersion = metadata.resourceVersion ?? "0";
  const watch = async () => {
    while (!stopped.signal.aborted) {
      await kube.watch(jobs, namespace, {
        resourceVersion,
        timeoutSeconds: 3_600,
        inactivityMs: 300_000,
        signal: stopped.signal,
        onEvent({ type, object }) {
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
          if (type === "ADDED" || type === "MODIFIED") see(object, performance.now());
        },
      });
    }
  };
  const running = watch().catch((error: unknown) => {
    if (!stopped.signal.aborted) throw error;
  });
  return {
    created,
    unsuspended,
    complete,
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
