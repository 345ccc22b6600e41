// Runs inside a local cluster's namespaces: starts all components in order and restarts those that exit. Started by
// first-process.sh; its child processes end with it. It logs to logs/supervisor.log in the cluster's folder.
import { appendFileSync, existsSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { tool } from "../cache.ts";
import { type Daemon, startDaemon, waitUntil } from "../process.ts";
import { answers } from "./api-call.ts";
import { apiServerFlags, componentEnv, controllerManagerFlags, etcdFlags, schedulerFlags } from "./flags.ts";
import {
  containerdSocket,
  kubeletFlags,
  kubeProxyFlags,
  kubeRouterFlags,
  nodeFilesOf,
} from "./node-config.ts";
import { pkiAt } from "./pki.ts";
import { type ClusterPlace, controlPlaneOf, findPlace } from "./place.ts";

const { values } = parseArgs({ options: { name: { type: "string", default: "" } } });
const place = findPlace(values.name);
if (place === undefined) throw new Error(`cluster "${values.name}" has no state folder`);
await supervise(place);

async function supervise(place: ClusterPlace): Promise<never> {
  const pki = pkiAt(join(place.dir, "pki"));
  const controlPlane = controlPlaneOf(place, pki);
  const files = nodeFilesOf(place);
  const say = (message: string) =>
    appendFileSync(join(place.dir, "logs", "supervisor.log"), `${new Date().toISOString()} ${message}\n`);

  const start = (name: string, args: readonly string[]): Daemon => {
    const daemon = startDaemon({
      name,
      command: tool(name),
      args,
      log: join(place.dir, "logs", `${name}.log`),
      cwd: "/",
      env: componentEnv(),
    });
    say(`started ${name}`);
    daemon.exited.then(() => {
      say(`${name} exited; restarting it in 1 s`);
      setTimeout(() => start(name, args), 1_000);
    });
    return daemon;
  };

  const { insideAddress } = place.addresses;
  const hasAddress = async () =>
    (networkInterfaces().eth0 ?? []).some(({ address }) => address === insideAddress);
  await waitUntil("the network", hasAddress, { timeoutMs: 180_000 });
  start("containerd", [`--config=${files.containerd}`, "--log-level=warn"]);
  start("etcd", etcdFlags(controlPlane));
  start("kube-apiserver", apiServerFlags(controlPlane));
  const isUp = () => answers(pki, `${place.server}/readyz`);
  await waitUntil("kube-apiserver to be ready", isUp, { timeoutMs: 120_000 });
  say("kube-apiserver is ready");
  start("kube-controller-manager", controllerManagerFlags(controlPlane));
  start("kube-scheduler", schedulerFlags(controlPlane));
  await waitUntil("containerd", async () => existsSync(containerdSocket), { timeoutMs: 180_000 });
  start("kubelet", kubeletFlags(place));
  start("kube-proxy", kubeProxyFlags(place));
  start("kube-router", kubeRouterFlags(place));
  start("coredns", [`-conf=${files.corefile}`]);
  return new Promise(() => setInterval(() => {}, 2 ** 30));
}
