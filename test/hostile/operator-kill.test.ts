// kill -9 of the leading operator just before and just after its writes to the API server and its commits, and SIGTERM
// in between, while jobs of all kinds run, also adopted and suspended ones: no Job twice, no final status lost or
// changed, every result once. test/chaos/main.ts is the long form, which has jobs in a queue of Kueue too.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runChaos } from "../chaos/run.ts";
import { useCluster } from "../support/kube.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertModel, insertTenant } from "../support/rows.ts";
import { useStorage } from "../support/s3.ts";
import { rounds, seed } from "../support/trial.ts";

const cluster = useCluster();
const database = useDatabase();
const store = useStorage();
const dir = mkdtempSync(join(tmpdir(), "plosive-chaos-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Each kill costs the start of a new process. */
const kills = rounds({ slice: 6, full: 300 });

it("jobs lose nothing and duplicate nothing when the leading operator is killed at its writes", async () => {
  const { admin, tls, plane } = cluster;
  const { name: namespace, operatorKubeconfig } = await cluster.namespace();
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  const databaseUrl = database.urlOf("plosive_operator");
  const { config, storage } = store;
  const report = await runChaos(
    { server: plane.server, tls, namespace, operatorKubeconfig, databaseUrl, storage: config, dir },
    { pool: database.pool, storage, tenant, model, admin, namespace },
    { kills, atOnce: 6, seed, print: () => {} },
  );
  console.info(
    `ended orderly ${report.handOvers} times, and killed ${report.kills} times at ${[...report.points.values()].filter((hits) => hits > 0).length} write points; ` +
      `${report.jobs} jobs in ${report.seconds.toFixed(0)} s`,
  );
  expect(report.faults).toEqual([]);
  expect(report.kills).toBe(kills);
  expect(report.handOvers).toBeGreaterThan(0);
}, 7_200_000);
