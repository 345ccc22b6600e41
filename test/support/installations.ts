// Two installations, each with a control plane, an operator and an API of its own, on one database and one bucket. Called at
// the top of test files: `const pair = useInstallations()`.
import { afterAll, beforeAll } from "vitest";
import type { Kube } from "../../src/kube/client.ts";
import { makeKube } from "../../src/kube/client.ts";
import { makeLog } from "../../src/log.ts";
import { makeSubmit } from "../../src/submit.ts";
import {
  type Client,
  clientOf,
  makeTenant,
  type ServedApi,
  serveApi,
  testDeps,
  testSettings,
} from "./api.ts";
import { type OwnCluster, type TestNamespace, useOwnCluster } from "./kube.ts";
import { podOf, runOperator, type TestOperator, Worker } from "./operator.ts";
import { useDatabase } from "./postgres.ts";
import { useStorage } from "./s3.ts";

export interface Installation {
  readonly name: string;
  readonly cluster: OwnCluster;
  space: TestNamespace;
  operator: TestOperator;
  /** The tenant's client of this installation's API. */
  client: Client;
  start(): Promise<void>;
  /** Starts an operator of this name in another namespace, where it has a Lease of its own. */
  startTwin(): Promise<TestOperator>;
  ref(name: string): { namespace: string; name: string };
  /** The worker of a run that has started, once its pod is there. */
  worker(run: string): Promise<Worker>;
  /** The requests of its operator to its API server that name this. */
  requestsAbout(id: string): string[];
}

export function useInstallations() {
  const database = useDatabase();
  const store = useStorage();
  const log = makeLog("test", "silent");
  const apis: ServedApi[] = [];
  const kubes: Kube[] = [];

  const make = (name: string): Installation => {
    const cluster = useOwnCluster({ audit: true });
    const run = (namespace: TestNamespace) =>
      runOperator({
        cluster,
        namespace,
        databaseUrl: database.url,
        storage: store.config,
        driftMs: 300,
        config: { PLOSIVE_INSTALLATION: name },
      });
    const one: Installation = {
      name,
      cluster,
      space: undefined as unknown as TestNamespace,
      operator: undefined as unknown as TestOperator,
      client: undefined as unknown as Client,
      async start() {
        one.operator = await run(one.space);
        await one.operator.leading;
      },
      startTwin: async () => run(await cluster.namespace()),
      ref: (object) => ({ namespace: one.space.name, name: object }),
      worker: async (run) =>
        new Worker(cluster, () => one.operator, await podOf(cluster.admin, one.space.name, run)),
      requestsAbout: (id) => cluster.requests(one.space, "operator").filter((line) => line.includes(id)),
    };
    return one;
  };
  const [a, b] = [make("a"), make("b")];

  const serve = async (one: Installation) => {
    const kube = makeKube({ kubeconfig: one.space.apiKubeconfig });
    kubes.push(kube);
    const api = await serveApi({
      ...testDeps(database.apiPool, store.storage),
      config: testSettings({ PLOSIVE_INSTALLATION: one.name }),
      submit: ({ tenantId, ...job }) =>
        makeSubmit({
          db: database.apiPool.asTenant(tenantId),
          kube,
          installation: one.name,
          namespace: one.space.name,
          log,
        })(job),
    });
    apis.push(api);
    return api.url;
  };
  beforeAll(async () => {
    for (const one of [a, b]) one.space = await one.cluster.namespace();
    const urls = await Promise.all([serve(a), serve(b)]);
    a.client = await makeTenant(database.pool, urls[0]);
    b.client = clientOf(urls[1], a.client.key, a.client.tenantId);
    await Promise.all([a.start(), b.start()]);
  });
  afterAll(async () => {
    await Promise.all([a, b].map((one) => one.operator?.stop()));
    for (const api of apis) await api.stop();
    for (const kube of kubes) kube.close();
  });
  return { database, store, a, b };
}
