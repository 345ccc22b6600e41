// An elected operator for a whole test file, with its own namespace, database and bucket. Called at the top of test
// files: `const stage = useOperator()`. Tests that stop and start operators call runOperator themselves.
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Pod } from "../../src/kube/objects.ts";
import { type TestCluster, type TestNamespace, useCluster } from "./kube.ts";
import { podOf, runOperator, type TestOperator, Worker } from "./operator.ts";
import { type TestDatabase, useDatabase } from "./postgres.ts";
import { type TestStorage, useStorage } from "./s3.ts";

export interface OperatorStage {
  readonly cluster: TestCluster;
  readonly database: TestDatabase;
  readonly store: TestStorage;
  readonly operator: TestOperator;
  /** The name of the operator's namespace. */
  readonly namespace: string;
  /** A reference to an object of this name in the operator's namespace. */
  ref(name: string): { namespace: string; name: string };
  /** The newest pod of a shard that has not ended. */
  podOf(run: string, shard?: number): Promise<Pod>;
  /** A fake worker that sends this pod's requests to the operator. */
  worker(pod: Pod): Worker;
}

type Options = Pick<
  Parameters<typeof runOperator>[0],
  "driftMs" | "graceSeconds" | "retentionSeconds" | "jobRetentionSeconds" | "config" | "runs"
> & {
  /** A cluster in place of the shared control plane. */
  cluster?: TestCluster;
};

export function useOperator({ cluster = useCluster(), ...options }: Options = {}): OperatorStage {
  const database = useDatabase();
  const store = useStorage();
  let space: TestNamespace | undefined;
  let operator: TestOperator | undefined;
  let isLost = false;
  beforeAll(async () => {
    space = await cluster.namespace();
    const { config: storage } = store;
    operator = await runOperator({
      cluster,
      namespace: space,
      databaseUrl: database.url,
      storage,
      ...options,
    });
    await operator.leading;
    operator.lost.then(() => {
      isLost = true;
    });
  });
  // The process of an operator exits then and is started again. This one works no more: the tests would wait in vain.
  const requireOperator = () => {
    if (isLost)
      throw new Error("the operator has lost its lease or its name, and works no more in this file");
  };
  beforeEach(requireOperator);
  afterEach(requireOperator);
  afterAll(() => operator?.stop());
  const need = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("the operator exists only while tests run");
    return value;
  };
  return {
    cluster,
    database,
    store,
    get operator() {
      return need(operator);
    },
    get namespace() {
      return need(space).name;
    },
    ref: (name) => ({ namespace: need(space).name, name }),
    podOf: (run, shard) => podOf(cluster.admin, need(space).name, run, shard),
    worker: (pod) => new Worker(cluster, () => need(operator), pod),
  };
}
