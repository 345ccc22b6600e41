// `make bench-api`: the API and a peer (FastAPI with asyncpg) in turns on the same Postgres and the same cores, the
// database alone as the upper bound, and a million annotations to a fast and a slow reader. Writes
// docs/benchmarks-results.md and fails when a target is missed. docs/benchmarks.md describes the method.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheDir, repoDir } from "../../tools/cache.ts";
import { type BigRead, readBig } from "./big.ts";
import { limitOf, statements } from "./limit.ts";
import type { LoadJob } from "./load.ts";
import { type Measured, measure } from "./measure.ts";
import { type Endpoint, faultsOf, render } from "./report.ts";
import { requireSameAnswer, requireSameCreation, requireSameRefusals } from "./same.ts";
import { type Server, startApi, startBackends, startPeer } from "./servers.ts";
import { bulkBody, makeWorld, type World } from "./world.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "6" },
    connections: { type: "string", default: "8" },
    big: { type: "string", default: "1000000" },
    /** The path of the results table. */
    out: { type: "string", default: join(repoDir, "docs/benchmarks-results.md") },
  },
});
const [rounds, seconds, connections] = [options.rounds, options.seconds, options.connections].map(Number) as [
  number,
  number,
  number,
];
const print = (text: string) => console.log(text);

type Job = Omit<LoadJob, "port">;
const common = { connections, seconds };

function jobsOf(world: World, body: string, drafts: readonly string[]): Record<Endpoint["name"], Job> {
  const sets = `/api/v1/datasets/${world.datasetId}/annotation-sets`;
  const bulk = drafts.map((draft) => `${sets}/${draft}/annotations/bulk`);
  const { key } = world;
  return {
    "List training jobs: 20 of 1,000": {
      ...common,
      key,
      method: "GET",
      paths: ["/api/v1/training-jobs"],
      expect: 200,
      warmUp: 400,
    },
    "Read an annotation set of 10,000": {
      ...common,
      key,
      method: "GET",
      paths: [`${sets}/${world.setId}`],
      expect: 200,
      warmUp: 16,
    },
    "Create 1,000 annotations": {
      ...common,
      key,
      method: "POST",
      paths: bulk,
      body,
      expect: 201,
      warmUp: 16,
    },
  };
}

const drafts = (world: World) => Promise.all(Array.from({ length: connections }, () => world.draft()));

async function requireEquality(api: Server, peer: Server, world: World, body: string): Promise<void> {
  const one = jobsOf(world, body, await drafts(world));
  const other = jobsOf(world, body, await drafts(world));
  const [list, set, bulk] = Object.keys(one) as [Endpoint["name"], Endpoint["name"], Endpoint["name"]];
  await requireSameAnswer(api, peer, one[list]);
  await requireSameAnswer(api, peer, one[set]);
  await requireSameCreation(api, peer, [one[bulk], other[bulk]]);
  const spoilt = (change: Record<string, unknown>) => {
    const { annotations } = JSON.parse(body);
    Object.assign(annotations[999], change);
    return JSON.stringify({ annotations });
  };
  const refused = [
    { artifact_type: "unheard of" },
    { audio_file_id: world.setId },
    { end_ms: 3_600_051 },
    { start_ms: 5, end_ms: 4 },
    { start_ms: -1 },
    { confidence: 1.01 },
    { extra_data: { text: "x".repeat(4_100) } },
    { extra_data: { a: { b: { c: { d: { e: {} } } } } } },
  ].map(spoilt);
  const empty = jobsOf(world, body, await drafts(world))[bulk];
  await requireSameRefusals(api, peer, empty, 422, [...refused, '{"annotations":[]}']);
}

async function timed(
  servers: readonly [Server, Server],
  postgresPid: number,
  world: World,
): Promise<Endpoint[]> {
  const body = bulkBody(world.audioIds);
  const endpoints: Endpoint[] = [];
  for (const name of Object.keys(jobsOf(world, body, [])) as Endpoint["name"][]) {
    const results: Record<string, Measured[]> = { plosive: [], fastapi: [] };
    for (let round = 0; round < rounds; round++) {
      // The servers alternate in going first, so that changes of the machine affect both.
      for (const server of round % 2 === 0 ? servers : [...servers].reverse()) {
        const job = jobsOf(world, body, await drafts(world))[name];
        await world.settle();
        const measured = await measure(server, postgresPid, job);
        results[server.name]?.push(measured);
        print(
          `${name}: ${server.name} ${measured.perSecond.toFixed(1)}/s, p99 ${measured.p99.toFixed(1)} ms ` +
            `(CPU for one: server ${measured.serverCpuMs.toFixed(2)} ms, Postgres ${measured.postgresCpuMs.toFixed(2)} ms)`,
        );
      }
    }
    const scripts = statements(world, await drafts(world), body);
    const script =
      name === "Create 1,000 annotations"
        ? scripts.bulk
        : name.startsWith("List")
          ? scripts.list
          : scripts.set;
    await world.settle();
    const limit = await limitOf(world.databaseUrl, script, { connections, seconds });
    print(`${name}: the database alone ${limit.perSecond.toFixed(1)}/s, p99 ${limit.p99.toFixed(1)} ms`);
    endpoints.push({ name, plosive: results.plosive ?? [], fastapi: results.fastapi ?? [], limit });
  }
  return endpoints;
}

async function big(api: Server, world: World): Promise<BigRead[]> {
  const set = await world.bigSet(Number(options.big));
  const path = `/api/v1/datasets/${world.datasetId}/annotation-sets/${set}`;
  const reads: BigRead[] = [];
  const slow = 8 * 1024 * 1024;
  for (const [name, suffix, speed] of [
    ["the list of annotations", "/annotations", undefined],
    ["the annotation set", "", undefined],
    ["export for the labelling tool", "/export/annotation-tool?audio=key", undefined],
    ["export as CSV", "/export/csv", undefined],
    ["the list, to a reader of 8 MiB/s", "/annotations", slow],
    ["export as CSV, to a reader of 8 MiB/s", "/export/csv", slow],
  ] as const) {
    const read = await readBig(api, name, `${path}${suffix}`, world.key, speed);
    print(
      `${name}: ${read.seconds.toFixed(1)} s, ${(read.bytes / 2 ** 20).toFixed(0)} MiB, ` +
        `at most ${(read.peakBytes / 2 ** 20).toFixed(0)} MiB resident`,
    );
    reads.push(read);
  }
  return reads;
}

const backends = await startBackends();
try {
  print("writing the test data");
  const world = await makeWorld(backends.postgresUrl, { jobs: 1_000, annotations: 10_000 });
  const python = join(cacheDir, "bench-venv", "bin", "python");
  const peer = await startPeer(backends, world.databaseUrl, python);
  const api = await startApi(backends, world.databaseUrl);
  await requireEquality(api, peer, world, bulkBody(world.audioIds));
  print("both give the same answers");
  const endpoints = await timed([api, peer], backends.postgresPid, world);
  await api.stop();
  await peer.stop();

  // A fresh process, so that its peak memory is that of the long answers.
  const fresh = await startApi(backends, world.databaseUrl);
  const reads = await big(fresh, world);
  await fresh.stop();
  await world.end();

  const cpu = /model name\s*:\s*(.+)/.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "unknown";
  const text = render({
    endpoints,
    reads,
    rounds,
    seconds,
    connections,
    annotations: Number(options.big),
    cpu,
  });
  writeFileSync(options.out, text);
  print(text);
  const faults = faultsOf(endpoints, reads);
  for (const fault of faults) console.error(`missed goal: ${fault}`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await backends.stop();
}
