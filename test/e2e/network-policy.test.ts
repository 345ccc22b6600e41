// Who may reach whom: every arrow between the parts of an installation, its neighbours in the cluster and the outside is tried with a
// real connection, on a cluster whose network enforces policies.
import { execFile } from "node:child_process";
import { createServer, type Server } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tool } from "../../tools/cache.ts";
import { firstProcess } from "../../tools/cluster/namespaces.ts";
import { clusterPlace, create, kubectl, kubectlJson, namespace, until } from "./cluster.ts";
import { listenAt, reachedFrom, type Target } from "./connections.ts";
import { podProcesses } from "./machine.ts";

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: { readonly podIP?: string };
}

const run = Date.now().toString(36);
const part = (component: string) => ({
  "app.kubernetes.io/name": "plosive",
  "app.kubernetes.io/instance": "plosive",
  "app.kubernetes.io/component": component,
});
/** Pods that have ended or come and go: others with their labels take their place. The last one is none of Plosive's. */
const standIns: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  worker: { "app.kubernetes.io/name": "plosive-worker" },
  bootstrap: part("bootstrap"),
  secrets: part("secrets"),
  test: part("test"),
  stranger: { app: "stranger" },
};
const standInPort = 4444;
const metadataService = "169.254.169.254";

/** What the parts reach that may connect to anywhere but to the cloud's metadata service. */
const anywhere = [
  "DNS",
  "Kubernetes",
  "api:8080",
  "api:9090",
  "operator:8081",
  "operator:9090",
  "runs:8081",
  "runs:9090",
  "object-store",
  "stranger",
  "outside",
];
const table: Readonly<Record<string, readonly string[]>> = {
  worker: ["DNS", "runs:8443", "object-store"],
  api: [...anywhere, "database"],
  operator: [...anywhere, "database"],
  runs: [...anywhere, "database"],
  bootstrap: [...anywhere, "database"],
  secrets: ["DNS", "Kubernetes"],
  test: ["DNS", "api:8080"],
  database: [],
  "object-store": [],
  stranger: [...anywhere, "metadata service"],
  outside: anywhere.filter((name) => name !== "outside"),
};

const pids = new Map<string, number>();
let targets: readonly Target[];
let outside: Server;
let stopMetadata: (() => Promise<void>) | undefined;

beforeAll(async () => {
  const image = await kubectl("get", "deployment", "plosive-operator", "-o", "jsonpath={..image}");
  const addresses = new Map<string, string>();
  for (const name of Object.keys(standIns)) await create(standIn(name, image.trim()));
  for (const name of ["api", "operator", "runs", "database", "object-store", ...Object.keys(standIns)]) {
    const selector =
      name in standIns ? `plosive.dev/stand-in=${name}-${run}` : `app.kubernetes.io/component=${name}`;
    const { metadata, status } = await until(`the pod ${name}`, 180_000, async () => {
      const { items } = await kubectlJson<{ items: Pod[] }>(
        "get",
        "pods",
        `--selector=${selector}`,
        "--field-selector=status.phase=Running",
      );
      return items.find((pod) => pod.status.podIP !== undefined);
    });
    pids.set(name, podProcesses(metadata.uid, "")[0]!);
    addresses.set(name, status.podIP ?? "");
  }
  const { hostAddress, dnsAddress, kubernetesServiceAddress } = clusterPlace().addresses;
  outside = createServer((socket) => socket.end()).listen(0, hostAddress);
  await new Promise((resolve) => outside.once("listening", resolve));
  stopMetadata = await listenAt(firstProcess(clusterPlace())!, metadataService, 80);
  pids.set("outside", process.pid);
  const at = (name: string, port: number, title = name): Target => ({
    name: title,
    address: addresses.get(name) ?? "",
    port,
  });
  targets = [
    { name: "DNS", address: dnsAddress, port: 53 },
    { name: "Kubernetes", address: kubernetesServiceAddress, port: 443 },
    ...[8080, 9090].map((port) => at("api", port, `api:${port}`)),
    ...[8081, 9090].map((port) => at("operator", port, `operator:${port}`)),
    ...[8443, 8081, 9090].map((port) => at("runs", port, `runs:${port}`)),
    at("database", 5432),
    at("object-store", 7070),
    ...Object.keys(standIns).map((name) => at(name, standInPort)),
    { name: "outside", address: hostAddress, port: (outside.address() as { port: number }).port },
    { name: "metadata service", address: metadataService, port: 80 },
  ];
});
afterAll(async () => {
  outside?.close();
  await Promise.all([
    stopMetadata?.(),
    kubectl("delete", "pods", "--selector=plosive.dev/stand-in", "--wait=false", "--grace-period=1"),
  ]);
});

test.each(Object.keys(table))("%s reaches what it may, and nothing else", async (source) => {
  // The address of the metadata service is in the cluster alone; outside it is another machine's.
  const hidden = source === "outside" ? "metadata service" : source;
  const others = targets.filter(({ name }) => ![source, hidden].includes(name.split(":")[0] ?? name));
  const allowed = others.map(({ name }) => name).filter((name) => table[source]!.includes(name));
  let reached: string[] = [];
  // The policies of new pods take effect a moment after their start.
  await until(`the policies of ${source}`, 30_000, async () => {
    reached = await reachedFrom(pids.get(source)!, others);
    return reached.join() === allowed.join() ? true : undefined;
  }).catch(() => {});
  expect(reached).toEqual(allowed);
});

/** A pod that listens, and meets the Pod Security level of the namespace. */
const standIn = (name: string, image: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: `stand-in-${name}-${run}`,
    labels: { ...standIns[name], "plosive.dev/stand-in": `${name}-${run}` },
  },
  spec: {
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
    automountServiceAccountToken: false,
    containers: [
      {
        name: "listener",
        image,
        imagePullPolicy: "IfNotPresent",
        command: [
          "node",
          "-e",
          `require("node:net").createServer((socket) => socket.end()).listen(${standInPort})`,
        ],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "128Mi" } },
      },
    ],
  },
});

test("`helm test` succeeds", async () => {
  const { kubeconfig } = clusterPlace();
  const args = ["test", "plosive", "--kubeconfig", kubeconfig, "--namespace", namespace, "--logs"];
  const { stdout } = await promisify(execFile)(tool("helm"), args);
  expect(stdout).toContain("200 database ok");
});
