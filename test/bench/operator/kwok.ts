// Nodes without machines: KWOK acts as their kubelets, so that the real scheduler and the real Job controller have pods
// to process. Called by cluster.ts.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Kube } from "../../../src/kube/client.ts";
import { tool } from "../../../tools/cache.ts";
import { type Daemon, freePorts, startDaemon } from "../../../tools/process.ts";
import { poll } from "../../support/poll.ts";

/** Pods that select this pool run until the benchmark ends them; all others end by themselves. */
export const heldPool = { "bench.plosive.dev/pool": "held" };
const pools = [heldPool, { "bench.plosive.dev/pool": "free" }];
const poolLabel = "bench.plosive.dev/pool";
const indexAnnotation = "batch.kubernetes.io/job-completion-index";

const containers = (state: string, ready: boolean) => `
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: ${ready}
  restartCount: 0
  state:
    ${state}
{{ end }}`;

const condition = (type: string, status: string) =>
  `- { type: ${type}, status: "${status}", lastTransitionTime: {{ Now | Quote }} }`;

/** The termination message of a successful worker. */
const termination =
  '{"code":"ok","message":"Done.","hint":null,"shard":SHARD,"item":null,"items_done":1,"items_total":1,"items_failed":0}';

const expression = (key: string, operator: string, values?: string[]) => ({ key, operator, values });
const podStage = (name: string, expressions: object[], delayMs: number, next: object) => ({
  apiVersion: "kwok.x-k8s.io/v1alpha1",
  kind: "Stage",
  metadata: { name },
  spec: {
    resourceRef: { apiGroup: "v1", kind: "Pod" },
    selector: { matchExpressions: expressions },
    ...(delayMs === 0 ? {} : { delay: { durationMilliseconds: delayMs } }),
    next,
  },
});

const alive = expression(".metadata.deletionTimestamp", "DoesNotExist");

/** The container starts at once and succeeds after `runMs`; a deleted pod disappears at once. */
function stages(runMs: number): object[] {
  const shard = `{{ index (or .metadata.annotations dict) "${indexAnnotation}" }}`;
  return [
    {
      apiVersion: "kwok.x-k8s.io/v1alpha1",
      kind: "Stage",
      metadata: { name: "node" },
      spec: {
        resourceRef: { apiGroup: "v1", kind: "Node" },
        selector: { matchExpressions: [expression(".status.phase", "NotIn", ["Running"])] },
        next: {
          statusTemplate: `conditions:
- { type: Ready, status: "True", reason: KubeletReady, message: ready, lastHeartbeatTime: {{ Now | Quote }}, lastTransitionTime: {{ Now | Quote }} }
allocatable: { cpu: "100000", memory: 100Ti, pods: "100000" }
capacity: { cpu: "100000", memory: 100Ti, pods: "100000" }
phase: Running`,
        },
      },
    },
    podStage("start", [alive, expression(".status.phase", "In", ["Pending"])], 0, {
      statusTemplate: `phase: Running
startTime: {{ Now | Quote }}
conditions:
${["Initialized", "ContainersReady", "Ready"].map((type) => condition(type, "True")).join("\n")}
${containers("running: { startedAt: {{ Now | Quote }} }", true)}`,
    }),
    podStage(
      "end",
      [
        alive,
        expression(".status.phase", "In", ["Running"]),
        expression(`.spec.nodeSelector["${poolLabel}"]`, "NotIn", [heldPool[poolLabel]]),
      ],
      runMs,
      {
        statusTemplate: `phase: Succeeded
conditions:
${["ContainersReady", "Ready"].map((type) => condition(type, "False")).join("\n")}
${containers(
  `terminated: { exitCode: 0, reason: Completed, startedAt: {{ $.status.startTime | Quote }}, finishedAt: {{ Now | Quote }}, message: '${termination.replace("SHARD", shard).replace(".metadata", "$.metadata")}' }`,
  false,
)}`,
      },
    ),
    podStage("gone", [expression(".metadata.deletionTimestamp", "Exists")], 0, { delete: true }),
  ];
}

/** Starts KWOK for all nodes and creates `count` of them. */
export async function startKwok(options: {
  admin: Kube;
  kubeconfig: string;
  dir: string;
  count: number;
  runMs: number;
}): Promise<Daemon> {
  const { admin, kubeconfig, dir, count, runMs } = options;
  const home = join(dir, "kwok");
  mkdirSync(home, { recursive: true });
  const config = join(home, "stages.json");
  writeFileSync(
    config,
    stages(runMs)
      .map((stage) => JSON.stringify(stage))
      .join("\n---\n"),
  );
  const [port = 0] = await freePorts(1);
  const daemon = startDaemon({
    name: "kwok",
    command: tool("kwok"),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--config=${config}`,
      "--manage-all-nodes=true",
      "--cidr=10.128.0.0/9",
      "--node-ip=127.0.0.1",
      `--server-address=127.0.0.1:${port}`,
      "--node-lease-duration-seconds=40",
    ],
    log: join(dir, "kwok.log"),
    env: { ...process.env, HOME: home },
  });
  for (let n = 0; n < count; n++) {
    const name = `node-${n}`;
    await admin.send({
      method: "POST",
      path: "/api/v1/nodes",
      body: { metadata: { name, labels: { "kubernetes.io/hostname": name, ...pools[n % pools.length] } } },
    });
  }
  await poll("the nodes to be ready", async () => {
    if (daemon.isGone()) throw new Error(`KWOK ended:\n${daemon.tail()}`);
    const nodes = (await admin.send({ method: "GET", path: "/api/v1/nodes" })) as {
      items: { spec: { taints?: object[] }; status: { phase?: string } }[];
    };
    return nodes.items.every(({ spec, status }) => status.phase === "Running" && spec.taints === undefined);
  });
  return daemon;
}
