// Fills the operator's cache with fifty thousand pods. Most of them are written directly into etcd, in the form in
// which the API server stored earlier ones: ended pods of the same Jobs, as from earlier attempts. The API server
// serves them like any other pod, and creating them through it would take longer than the whole benchmark. Called by
// main.ts.
import { randomUUID } from "node:crypto";
import type { Kube } from "../../../src/kube/client.ts";
import { pods as podType } from "../../../src/kube/kinds.ts";
import type { Pod } from "../../../src/kube/objects.ts";
import { poll } from "../../support/poll.ts";

const connections = 8;

/** Adds pods to those of the jobs until there are `count`. Resolves when the API server lists all of them. */
export async function addPods(options: {
  admin: Kube;
  etcd: string;
  namespace: string;
  count: number;
}): Promise<void> {
  const { admin, etcd, namespace, count } = options;
  const own = await allPods(admin, namespace);
  const models = own.filter(({ status }) => status?.phase === "Succeeded");
  if (models.length === 0) throw new Error("there is no ended pod to go by");
  await storeInEtcd(etcd, count - own.length, (n) => {
    const copy = copyOf(models[n % models.length] as Pod);
    return [{ key: `/registry/pods/${namespace}/${copy.metadata.name}`, object: copy }];
  });
  await poll(
    "the API server to show all pods",
    async () => {
      const page = await admin.list(podType, namespace, { limit: 1 });
      const { remainingItemCount = 0 } = page.metadata as { remainingItemCount?: number };
      return remainingItemCount + 1 >= count;
    },
    60_000,
  );
}

/** Writes the objects of `count` makings. One write each: Kubernetes does not expect two keys of the same version. */
export async function storeInEtcd(
  etcd: string,
  count: number,
  make: (n: number) => { key: string; object: object }[],
): Promise<void> {
  let made = 0;
  const work = async () => {
    while (made < count) {
      for (const { key, object } of make(made++)) {
        const body = JSON.stringify({ key: base64(key), value: base64(JSON.stringify(object)) });
        const answer = await fetch(`${etcd}/v3/kv/put`, { method: "POST", body });
        if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
        await answer.arrayBuffer();
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
}

async function allPods(admin: Kube, namespace: string): Promise<Pod[]> {
  const found: Pod[] = [];
  for (let next: string | undefined; ; ) {
    const page = await admin.list(podType, namespace, { limit: 500, continue: next });
    found.push(...page.items);
    next = page.metadata.continue;
    if (!next) return found;
  }
}

function copyOf(pod: Pod): Pod {
  const { resourceVersion, finalizers, ...metadata } = pod.metadata;
  const name = `${metadata.name.slice(0, -5)}${randomUUID().slice(0, 8)}`;
  return { apiVersion: "v1", kind: "Pod", ...pod, metadata: { ...metadata, name, uid: randomUUID() } };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
