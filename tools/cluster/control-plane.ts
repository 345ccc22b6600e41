// A real control plane for tests, without a node: etcd and kube-apiserver (optionally controller-manager and scheduler)
// on free loopback ports. It is ready in seconds, and several can run side by side. Called by test/support/kube.ts.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { controlPlaneTool } from "../cache.ts";
import { type Daemon, freePorts, startDaemon, waitUntil } from "../process.ts";
import { answers } from "./api-call.ts";
import {
  apiServerFlags,
  componentEnv,
  controllerManagerFlags,
  etcdData,
  etcdFlags,
  kubeconfigOf,
  type Place,
  schedulerFlags,
} from "./flags.ts";
import { makePki, writeKubeconfig } from "./pki.ts";

export interface ControlPlaneOptions {
  /** A folder for this control plane only; created if missing, deleted by stop(). */
  readonly dir: string;
  /** Needed for pods of Jobs, garbage collection by owner, and default service accounts of namespaces. */
  readonly withControllerManager?: boolean;
  readonly withScheduler?: boolean;
  /** Additional flags of a component, after those of flags.ts. */
  readonly flags?: { readonly [component: string]: readonly string[] };
}

export interface ControlPlane {
  readonly kubeconfigPath: string;
  readonly server: string;
  /** Paths of the API server's certificate (for 127.0.0.1 and localhost) and of its authority. */
  readonly tls: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  /** Client URL of etcd. */
  readonly etcd: string;
  /** The folder with etcd's data. */
  readonly etcdData: string;
  readonly pids: readonly number[];
  /** The pid of a running component: etcd, kube-apiserver, ... */
  pidOf(component: string): number;
  /** Kills the API server, as a crash would; etcd and its data stay. */
  stopApiServer(): Promise<void>;
  /** Starts the API server again at the same address and waits until it is ready. */
  startApiServer(): Promise<void>;
  /** Restarts the controller manager with other additional flags. */
  restartControllers(flags: readonly string[]): Promise<void>;
  /** Kills etcd; its data stays on the disk. */
  stopEtcd(): Promise<void>;
  startEtcd(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a control plane and waits until it is ready. Its processes end with this one, however this one ends. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  // A free port may be taken before a component binds it. Then everything starts again with other ports.
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (attempt === 3 || !String(error).includes("address already in use")) throw error;
    }
  }
}

async function startOnce({
  dir,
  withControllerManager = false,
  withScheduler = false,
  flags = {},
}: ControlPlaneOptions): Promise<ControlPlane> {
  mkdirSync(dir, { recursive: true });
  const [[etcd = 0, etcdPeer = 0, api = 0], pki] = await Promise.all([
    freePorts(3),
    makePki(join(dir, "pki"), ["127.0.0.1", "10.96.0.1"], "none"),
  ]);
  const place: Place = {
    dir,
    pki,
    address: "127.0.0.1",
    ports: { etcd, etcdPeer, api },
    serviceRange: "10.96.0.0/16",
    hasNode: false,
  };
  const server = `https://127.0.0.1:${api}`;
  for (const identity of ["admin", "controller-manager", "scheduler"])
    writeKubeconfig(kubeconfigOf(place, identity), pki, server, identity);

  const daemons = new Map<string, Daemon>();
  const start = (name: string, args: readonly string[], further = flags[name] ?? []) => {
    const daemon = startDaemon({
      name,
      command: controlPlaneTool(name),
      args: [...args, ...further],
      log: join(dir, `${name}.log`),
      env: componentEnv(),
    });
    daemons.set(name, daemon);
    return daemon;
  };
  const startApiServer = async () => {
    await daemons.get("kube-apiserver")?.kill();
    const daemon = start("kube-apiserver", apiServerFlags(place));
    const watched = [daemon, ...[daemons.get("etcd")].filter((other) => other !== undefined)];
    await waitUntil("kube-apiserver to be ready", () => answers(pki, `${server}/readyz`), {
      timeoutMs: 180_000,
      daemons: watched,
    });
  };
  const stop = async () => {
    await Promise.all([...daemons.values()].map((daemon) => daemon.kill()));
    rmSync(dir, { recursive: true, force: true });
  };

  try {
    start("etcd", etcdFlags(place));
    await startApiServer();
    if (withScheduler) start("kube-scheduler", schedulerFlags(place));
    if (withControllerManager) {
      const manager = start("kube-controller-manager", controllerManagerFlags(place));
      const account = `${server}/api/v1/namespaces/default/serviceaccounts/default`;
      await waitUntil("the controllers to run", () => answers(pki, account), {
        timeoutMs: 180_000,
        daemons: [manager],
      });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    kubeconfigPath: kubeconfigOf(place, "admin"),
    server,
    tls: { caFile: pki.caFile, certFile: pki.pair("apiserver").cert, keyFile: pki.pair("apiserver").key },
    etcd: `http://127.0.0.1:${etcd}`,
    etcdData: etcdData(place),
    get pids() {
      return [...daemons.values()].filter((daemon) => !daemon.isGone()).map((daemon) => daemon.pid);
    },
    pidOf: (component) => daemons.get(component)?.pid ?? -1,
    stopApiServer: async () => daemons.get("kube-apiserver")?.kill(),
    startApiServer,
    async restartControllers(further) {
      await daemons.get("kube-controller-manager")?.kill();
      start("kube-controller-manager", controllerManagerFlags(place), further);
    },
    stopEtcd: async () => daemons.get("etcd")?.kill(),
    async startEtcd() {
      const daemon = start("etcd", etcdFlags(place));
      await waitUntil("the API server to have its etcd again", () => answers(pki, `${server}/readyz`), {
        timeoutMs: 180_000,
        daemons: [daemon],
      });
    },
    stop,
  };
}
