// Outages of Postgres, the object store, etcd and the API server under load. The process keeps running or is
// restarted once, nothing is created twice, and all earlier jobs are done within a minute of the return.
// `make trials` has the outages of docs/benchmarks-operator-outages.md: minutes instead of seconds.
import { appendFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { useOwnCluster } from "../support/kube.ts";
import {
  forget,
  type Load,
  manyDuplicates,
  type Supervised,
  startLoad,
  stateOf,
  superviseOperator,
  untilCaughtUp,
} from "../support/outage.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { insertModel, insertTenant } from "../support/rows.ts";
import { useStorage } from "../support/s3.ts";
import { isFull, sliceOf } from "../support/trial.ts";

const everyMs = isFull ? 4_000 : 1_000;
const cluster = useOwnCluster();
const database = useDatabase();
const store = useStorage();
let postgres: TestProxy;
let s3: TestProxy;
let namespace: string;
let operator: Supervised;
let load: Load;
let mayWrite = true;

beforeAll(async () => {
  [postgres, s3] = await Promise.all([
    startProxy(database.urlOf("plosive_operator")),
    startProxy(store.config.PLOSIVE_S3_ENDPOINT),
  ]);
});
afterAll(() => Promise.all([postgres?.stop(), s3?.stop()]));
beforeEach(async () => {
  const space = await cluster.namespace();
  namespace = space.name;
  const storage = { ...store.config, PLOSIVE_S3_ENDPOINT: s3.url };
  operator = await superviseOperator({ cluster, namespace: space, databaseUrl: postgres.url, storage });
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  load = startLoad({
    cluster,
    namespace: space,
    runsPort: operator.runsPort,
    mayWrite: () => mayWrite,
    db: database.pool,
    tenant,
    model,
    everyMs,
  });
});
afterEach(async () => {
  await load.stop();
  await operator.stop();
  await forget(database.pool);
});

type Outage = {
  name: string;
  seconds: number;
  fullSeconds: number;
  away: () => unknown;
  back: () => unknown;
  /** The expected number of exits of the process. */
  exits: number;
};

const outages: Outage[] = [
  {
    name: "Postgres",
    seconds: 15,
    fullSeconds: 300,
    // The API cannot create rows either.
    away: () => {
      mayWrite = false;
      postgres.cut();
    },
    back: () => {
      postgres.heal();
      mayWrite = true;
    },
    exits: 0,
  },
  {
    name: "the object store",
    seconds: 15,
    fullSeconds: 300,
    away: () => s3.cut(),
    back: () => s3.heal(),
    exits: 0,
  },
  {
    name: "etcd, killed and started again at once",
    seconds: 0,
    fullSeconds: 0,
    away: () => cluster.plane.stopEtcd(),
    back: () => cluster.plane.startEtcd(),
    exits: 0,
  },
  {
    name: "the API server",
    seconds: 20,
    fullSeconds: 600,
    away: () => cluster.plane.stopApiServer(),
    back: () => cluster.plane.startApiServer(),
    // A leader that lost its lease must exit. The restarted process waits for the API server.
    exits: 1,
  },
];

it.each(sliceOf(outages, 1))(
  "outage of $name: nothing is created twice, and all jobs are done after its return",
  async (outage) => {
    const seconds = isFull ? outage.fullSeconds : outage.seconds;
    const state = (ids: readonly string[]) => stateOf(cluster, namespace, database.pool, ids);
    const through = async () => load.made.length >= 5 && (await state(load.made.slice(0, 5))).open === 0;
    await poll("jobs that are through", through);
    // Jobs in flight when the outage begins: being submitted, waiting for a pod, running.
    await load.burst(isFull ? 60 : 10);
    const before = load.made.length;
    await outage.away();
    const began = performance.now();
    await poll(
      "the end of the outage",
      () => performance.now() - began >= seconds * 1000,
      1_000 * (seconds + 5),
    );
    const exits = operator.exits();
    await outage.back();
    const back = performance.now();
    const ids = [...load.made];
    const figures = await untilCaughtUp(() => state(ids), back, isFull ? 600_000 : 240_000);
    const line = {
      what: outage.name,
      seconds: Math.round((back - began) / 1000),
      jobs: ids.length,
      madeMeanwhile: ids.length - before,
      ...figures,
      exits: operator.exits(),
    };
    console.info(JSON.stringify(line));
    if (process.env.PLOSIVE_OUTAGES_FILE)
      appendFileSync(process.env.PLOSIVE_OUTAGES_FILE, `${JSON.stringify(line)}\n`);
    expect(await manyDuplicates(cluster, namespace, database.pool, ids)).toEqual([]);
    // On a slow machine etcd may be away so long that the leader gives up its lease.
    const hasLostLease = !isFull && seconds === 0 && /the lease is lost/.test(operator.log());
    expect(exits).toBe(outage.exits);
    expect(operator.exits()).toBe(hasLostLease ? 1 : outage.exits);
    // The full trial measures on a machine that does nothing else.
    if (isFull) expect(figures.caughtUpSeconds).toBeLessThanOrEqual(60);
  },
  1_600_000,
);
