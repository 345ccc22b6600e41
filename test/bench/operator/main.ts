// `make bench-operator`: the operator on a real control plane with KWOK nodes and pods, beside Kueue. Writes
// docs/benchmarks-operator.md and fails when a promise is not kept. The method is described in docs/benchmarks.md.
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { makeStorage } from "../../../src/storage/storage.ts";
import { startBackends } from "../servers.ts";
import { watchMemory } from "./accounts.ts";
import { type BenchCluster, startCluster } from "./cluster.ts";
import { flood } from "./flood.ts";
import { startOperatorProcess } from "./operator.ts";
import { makeWorld } from "./world.ts";

const { values: options } = parseArgs({
  options: {
    jobs: { type: "string", default: "10000" },
    shards: { type: "string", default: "1" },
    /** A folder for CPU profiles of the operator and of the API server. */
    profiles: { type: "string" },
  },
});
const say = (text: string) => console.log(text);
const [jobs, shards] = [Number(options.jobs), Number(options.shards)];
const quantile = (values: readonly number[], q: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;

/** What the API server says about itself. */
async function askApiServer(cluster: BenchCluster, path: string, file: string): Promise<void> {
  const { host } = new URL(cluster.plane.server);
  const folder = dirname(cluster.tls.caFile);
  const [ca, cert, key] = ["ca.crt", "admin.crt", "admin.key"].map((name) =>
    readFileSync(join(folder, name)),
  );
  const url = `https://${host}${path}`;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { ca, cert, key }, resolve).on("error", reject).end();
  });
  writeFileSync(file, await buffer(answer));
}

const backends = await startBackends();
const bucket = "bench";
try {
  const storage = makeStorage({
    PLOSIVE_S3_ENDPOINT: backends.s3.endpoint,
    PLOSIVE_S3_REGION: backends.s3.region,
    PLOSIVE_S3_BUCKET: bucket,
    PLOSIVE_S3_ACCESS_KEY_ID: backends.s3.accessKey,
    PLOSIVE_S3_SECRET_ACCESS_KEY: backends.s3.secretKey,
  });
  await storage.ensureBucket();
  storage.close();
  const world = await makeWorld(backends.postgresUrl);
  const cluster = await startCluster({ dir: backends.dir, runMs: 500 });
  const { admin, namespace, plane } = cluster;
  const databaseUrl = world.databaseUrl;
  const { profiles } = options;
  const nodeOptions = profiles === undefined ? "" : `--cpu-prof --cpu-prof-dir=${profiles}`;
  const operator = await startOperatorProcess({ cluster, backends, databaseUrl, bucket, nodeOptions });
  say("everything runs");
  const memory = watchMemory(operator.pid);
  const pids = {
    operator: operator.pid,
    Postgres: backends.postgresPid,
    S3: backends.s3.pid,
    "API server": plane.pidOf("kube-apiserver"),
    etcd: plane.pidOf("etcd"),
    "controller manager": plane.pidOf("kube-controller-manager"),
    scheduler: plane.pidOf("kube-scheduler"),
    KWOK: cluster.kwokPid,
    "load generator": process.pid,
  };
  const bucketFolder = join(backends.dir, "s3", "buckets", bucket);
  const profiled =
    profiles === undefined
      ? undefined
      : askApiServer(cluster, "/debug/pprof/profile?seconds=30", join(profiles, "api-server.pprof"));
  const result = await flood(
    { admin, namespace, world, operator, bucketFolder, pids, say },
    { jobs, shards },
  );
  const { toJob, toRow, cpu, ...rest } = result;
  say(JSON.stringify(rest, undefined, 1));
  for (const [name, values] of Object.entries({ toJob, toRow }))
    say(
      `${name}: p50 ${quantile(values, 0.5).toFixed(0)} ms, p99 ${quantile(values, 0.99).toFixed(0)} ms, max ${Math.max(...values).toFixed(0)}`,
    );
  for (const [name, seconds] of Object.entries(cpu))
    say(`${name}: ${((seconds / jobs) * 1000).toFixed(2)} ms of CPU a job`);
  say(`operator: at most ${(memory.peak() / 2 ** 20).toFixed(0)} MiB`);
  memory.end();
  await profiled;
  if (profiles !== undefined) await askApiServer(cluster, "/metrics", join(profiles, "api-server.metrics"));
  await operator.stop();
  await cluster.stop();
  await world.end();
} finally {
  await backends.stop();
}
