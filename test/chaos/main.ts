// The long form of the chaos test: `node test/chaos/main.ts --kills 1000 [--seconds N] [--at-once N]` with its own
// control plane, Kueue, Postgres and S3 server. Prints how often it killed the leader at which write, and fails on any
// violation.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeKube } from "../../src/kube/client.ts";
import { makeStorage } from "../../src/storage/storage.ts";
import { startControlPlane } from "../../tools/cluster/control-plane.ts";
import { buildKueue, type Kueue, startKueue } from "../../tools/kueue.ts";
import { makeBucket } from "../../tools/s3.ts";
import { makeWorld } from "../bench/operator/world.ts";
import { startBackends } from "../bench/servers.ts";
import { createQueue, queueName, urgent } from "../support/kueue-queue.ts";
import { installCrds, kubeconfigOf, makeNamespace, tokenOf } from "../support/namespace.ts";
import { runChaos } from "./run.ts";

const { values: options } = parseArgs({
  options: {
    kills: { type: "string", default: "1000" },
    seconds: { type: "string", default: "14400" },
    "at-once": { type: "string", default: "12" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const began = performance.now();
const print = (text: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(6)} s  ${text}`);

buildKueue();
const backends = await startBackends();
try {
  const storageConfig = await makeBucket(backends.s3, "chaos");
  const storage = makeStorage(storageConfig);
  const { databaseUrl, pool, tenant, model, end } = await makeWorld(backends.postgresUrl);
  const dir = join(backends.dir, "operators");
  mkdirSync(dir);
  const plane = await startControlPlane({ dir: join(backends.dir, "plane"), withControllerManager: true });
  const admin = makeKube({ kubeconfig: plane.kubeconfigPath });
  let kueue: Kueue | undefined;
  try {
    await installCrds(admin);
    kueue = await startKueue({ kubeconfig: plane.kubeconfigPath, dir: join(backends.dir, "kueue") });
    const namespace = "chaos";
    await makeNamespace(admin, namespace, true);
    await createQueue(admin, namespace, 1);
    const operatorKubeconfig = join(dir, "operator.kubeconfig");
    const token = await tokenOf(admin, namespace, "plosive-operator");
    writeFileSync(operatorKubeconfig, kubeconfigOf(plane.server, plane.tls.caFile, token));
    print(`all servers run; seed ${options.seed}`);
    const { server, tls } = plane;
    const report = await runChaos(
      { server, tls, namespace, operatorKubeconfig, databaseUrl, storage: storageConfig, dir },
      { pool, storage, tenant, model, admin, namespace, queue: { name: queueName, urgent } },
      {
        kills: Number(options.kills),
        seconds: Number(options.seconds),
        atOnce: Number(options["at-once"]),
        seed: Number(options.seed),
        print,
      },
    );
    for (const [point, count] of [...report.points].sort())
      console.log(`${String(count).padStart(5)}  ${point}`);
    const { kills, handOvers, suspensions, preemptions, faults } = report;
    print(
      `${kills} kills at ${report.points.size} points, ${report.jobs} jobs, ${handOvers} orderly fail-overs, ` +
        `${suspensions} suspensions, ${preemptions} preemptions, ${report.lostLeases} leases lost, ${faults.length} faults`,
    );
    for (const fault of faults) console.error(fault);
    const isWhole = Math.min(kills, handOvers, suspensions, preemptions) > 0;
    if (!isWhole) console.error("no kill, orderly fail-over, suspension or preemption: use more kills");
    process.exitCode = faults.length === 0 && isWhole ? 0 : 1;
  } finally {
    admin.close();
    await kueue?.stop();
    await plane.stop();
    storage.close();
    await end();
  }
} finally {
  await backends.stop();
}
