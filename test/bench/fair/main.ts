// `make bench-fair`: one tenant attacks the installed chart with its default limits, four others measure. Brings up a local
// cluster of its own, prints a table, and removes the cluster. Usage: main.ts [--replicas 1|2] [--seconds 30] [--only REGEXP].
import { execFile } from "node:child_process";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { repoDir } from "../../../tools/cache.ts";
import { findService, kubectlPath } from "../../../tools/demo/connection.ts";
import { type Attack, attacks } from "./attacks.ts";
import { flood, type Measured, makeSend, type Request, type Send } from "./traffic.ts";
import { measureInThread, type Victim } from "./victim.ts";

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    replicas: { type: "string", default: "1" },
    seconds: { type: "string", default: "30" },
    only: { type: "string", default: "" },
  },
});
const seconds = Number(values.seconds);
const cluster = "fair";
const say = (text: string) => void process.stdout.write(`${text}\n`);

const { CLUSTER: _, ...env } = process.env;
await run(process.execPath, [join(repoDir, "tools/up.ts"), "--name", cluster], {
  cwd: repoDir,
  env,
  maxBuffer: 1 << 26,
});
const service = await findService({ cluster }, {});
const kubectl = async (...args: string[]) =>
  (
    await run(kubectlPath(), ["--kubeconfig", service.kubeconfig, "-n", "plosive", ...args], {
      maxBuffer: 1 << 26,
    })
  ).stdout.trim();
const admin = (...args: string[]) =>
  kubectl("exec", "deploy/plosive-operator", "--", "plosive-admin", ...args);

// The values of the local cluster raise the rates; without these variables the API has its defaults.
const rates = [
  "PER_MINUTE",
  "BURST",
  "WRITES_PER_MINUTE",
  "UPLOADS_PER_MINUTE",
  "KEYS_PER_MINUTE",
  "TRAININGS_PER_MINUTE",
];
await kubectl("set", "env", "deployment/plosive-api", ...rates.map((name) => `PLOSIVE_RATE_${name}-`));
await kubectl("scale", "deployment/plosive-api", `--replicas=${values.replicas}`);

async function newTenant(name: string): Promise<{ key: string; send: Send; end: () => void }> {
  const tenant = await admin("tenants", "create", name);
  const key = await admin("keys", "create", "--tenant", tenant);
  return { key, ...makeSend(service.base_url, key) };
}

async function database(sql: string): Promise<string> {
  const psql =
    'PGPASSWORD=$(cat /etc/plosive/database/password) psql -h 127.0.0.1 -U plosive -d plosive -qAt -v ON_ERROR_STOP=1 -c "$1"';
  return await kubectl("exec", "plosive-database-0", "--", "sh", "-c", psql, "psql", sql);
}

interface Pod {
  readonly name: string;
  readonly restarts: number;
}
async function apiPods(): Promise<Pod[]> {
  const { items } = JSON.parse(
    await kubectl("get", "pods", "-l", "app.kubernetes.io/component=api", "-o", "json"),
  );
  return items
    .filter(
      ({ metadata }: { metadata: { deletionTimestamp?: string } }) =>
        metadata.deletionTimestamp === undefined,
    )
    .map(
      ({
        metadata,
        status,
      }: {
        metadata: { name: string };
        status: { containerStatuses: { restartCount: number }[] };
      }) => ({
        name: metadata.name,
        restarts: status.containerStatuses[0]?.restartCount ?? 0,
      }),
    );
}
/** Highest resident memory of the API's processes since the last call, in MiB. */
async function peakMemory(): Promise<number> {
  const read = "grep VmHWM /proc/1/status; echo 5 > /proc/1/clear_refs";
  const peaks = (await apiPods()).map(async ({ name }) => {
    const text = await kubectl("exec", name, "--", "sh", "-c", read).catch(() => "");
    return Number(/\d+/.exec(text)?.[0] ?? Number.NaN) / 1024;
  });
  return Math.max(...(await Promise.all(peaks)));
}

/** What a labeller's page sends: mostly reads, and a write now and then. */
async function requestsOfLabeller(send: Send): Promise<Request[]> {
  const post = async (path: string, body: object) =>
    JSON.parse((await send({ method: "POST", path, body: JSON.stringify(body) })).body);
  const { id } = await post("/api/v1/datasets", { name: "measured", artifact_types: [{ name: "click" }] });
  const set = await post(`/api/v1/datasets/${id}/annotation-sets`, {});
  const path = `/api/v1/datasets/${id}`;
  return [
    { method: "GET", path },
    { method: "GET", path: "/api/v1/datasets" },
    { method: "GET", path: `${path}/annotation-sets/${set.id}` },
    { method: "GET", path: `${path}/audio` },
    { method: "GET", path: "/api/v1/training-jobs" },
    { method: "PATCH", path, body: JSON.stringify({ description: "measured again" }) },
  ];
}

interface Row {
  readonly attack: string;
  readonly quiet: Measured;
  readonly attacked: Measured;
  readonly answers: string;
  readonly restarts: number;
  readonly peak: number;
}

/** Requests per second of each measured tenant: below its default rate. */
const perSecond = 8;
/** Four tenants send enough for a p99 that more than two requests decide. */
const measuredTenants = 4;

// An attacker has machines of its own. Here it gets the processor time that the service leaves.
setPriority(constants.priority.PRIORITY_LOW);

const backgroundWork = `
  select (select count(*) from annotation_sets where copying is not null or deleted_at is not null)
    + (select count(*) from datasets where deleted_at is not null)`;

async function compare(attack: Attack): Promise<Row> {
  await kubectl("rollout", "restart", "deployment/plosive-api");
  await kubectl("rollout", "status", "deployment/plosive-api", "--timeout=120s");
  const attacker = await newTenant(`attacker ${attack.name}`);
  const victims: Victim[] = [];
  for (let i = 0; i < measuredTenants; i++) {
    const { key, send, end } = await newTenant("measured");
    victims.push({ key, requests: await requestsOfLabeller(send) });
    end();
  }
  const victim = { baseUrl: service.base_url, victims, perSecond };
  const request = await attack.prepare(attacker.send, database);
  // What an earlier attack left to do would be measured too.
  while ((await database(backgroundWork)) !== "0") await new Promise((resolve) => setTimeout(resolve, 1_000));
  // As autovacuum and checkpoints have done in an installation some time after the rows came.
  await database("vacuum (analyze, parallel 0)");
  await database("checkpoint");
  await measureInThread(victim, 5);
  const quiet = await measureInThread(victim, seconds);
  await peakMemory();
  const end = attack.during?.();
  let isOver = false;
  const flooding = flood(
    async (nth) => attacker.send(request(nth)),
    attack.connections,
    () => isOver,
  );
  const attacked = await measureInThread(victim, seconds).finally(() => end?.());
  isOver = true;
  attacker.end();
  const answers = [...(await flooding)]
    .filter(([status]) => status !== 0)
    .map(([status, count]) => `${count} × ${status}`);
  const [peak, pods] = [await peakMemory(), await apiPods()];
  const restarts = pods.reduce((sum, pod) => sum + pod.restarts, 0);
  return { attack: attack.name, quiet, attacked, answers: answers.join(", "), restarts, peak };
}

const rows: Row[] = [];
for (const attack of attacks.filter(({ name }) => new RegExp(values.only).test(name))) {
  say(`bench-fair: ${attack.name}`);
  rows.push(await compare(attack));
  say(lineOf(rows.at(-1)!));
  const { quiet, attacked } = rows.at(-1)!;
  say(`slowest, quiet: ${quiet.slowest.join(", ")}; attacked: ${attacked.slowest.join(", ")}`);
}
const head = [
  "| attack | answers to the attacker | p50 quiet → attacked, ms | p99 quiet → attacked, ms | ratio of p99 | failed | restarts | peak MiB |",
  "|---|---|---|---|---|---|---|---|",
];
const table = [...head, ...rows.map(lineOf)].join("\n");
say(table);
await run(process.execPath, [join(repoDir, "tools/cluster/main.ts"), "down", "--name", cluster], {
  cwd: repoDir,
});

function lineOf({ attack, quiet, attacked, answers, restarts, peak }: Row): string {
  const cells = [
    attack,
    answers,
    `${quiet.p50.toFixed(0)} → ${attacked.p50.toFixed(0)}`,
    `${quiet.p99.toFixed(0)} → ${attacked.p99.toFixed(0)}`,
    (attacked.p99 / quiet.p99).toFixed(1),
    `${attacked.failed} of ${attacked.requests}${attacked.failed > 0 ? ` (${attacked.failures.join(", ")})` : ""}`,
    String(restarts),
    peak.toFixed(0),
  ];
  return `| ${cells.join(" | ")} |`;
}
