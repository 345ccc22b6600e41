// An operator process, started as the image starts it, behind its own proxies, which can kill it in the middle of a
// write. Called by run.ts and by the failover tests.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StorageConfig } from "../../src/storage/storage.ts";
import { freePorts } from "../../tools/process.ts";
import { operatorEnv } from "../support/operator-env.ts";
import { poll } from "../support/poll.ts";
import { type ApiProxy, startApiProxy } from "./api-proxy.ts";
import { startPostgresProxy } from "./postgres-proxy.ts";
import type { Moment } from "./strikes.ts";

export interface ChaosWorld {
  readonly server: string;
  readonly tls: { caFile: string; certFile: string; keyFile: string };
  readonly namespace: string;
  readonly operatorKubeconfig: string;
  /** With the rights of the operator's role. */
  readonly databaseUrl: string;
  readonly storage: StorageConfig;
  /** A directory for the files and logs of the processes. */
  readonly dir: string;
}

export interface Replica {
  readonly name: string;
  readonly api: ApiProxy;
  readonly child: ChildProcess;
  /** Resolves once its caches are filled and it holds the lease or waits for it. */
  ready(): Promise<void>;
  leads(): boolean;
  isGone(): boolean;
  /** The end of its log. */
  tail(): string;
  /** Sends the signal, waits for the exit and returns the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

let count = 0;

/** Calls `due` at each write of the operator; true stops all its traffic. `settings` are added to its environment. */
export async function startReplica(
  world: ChaosWorld,
  due: (self: object, label: string, moment: Moment) => boolean = () => false,
  settings: NodeJS.ProcessEnv = {},
): Promise<Replica> {
  const name = `operator-${++count}`;
  const self = { name };
  const ask = (label: string, moment: Moment) => due(self, label, moment);
  const [api, postgres] = await Promise.all([
    startApiProxy({ server: world.server, tls: world.tls, due: ask }),
    startPostgresProxy({ target: world.databaseUrl, due: ask }),
  ]);
  const file = (suffix: string) => join(world.dir, `${name}.${suffix}`);
  const kubeconfig = JSON.parse(readFileSync(world.operatorKubeconfig, "utf8"));
  kubeconfig.clusters[0].cluster.server = api.url;
  writeFileSync(file("kubeconfig"), JSON.stringify(kubeconfig));
  const env = operatorEnv({
    namespace: world.namespace,
    kubeconfig: file("kubeconfig"),
    databaseUrl: postgres.url,
    storage: world.storage,
    profilesFile: file("profiles"),
  });
  const [health] = await freePorts(1);
  const child = spawn(
    "setpriv",
    ["--pdeathsig", "KILL", "--", process.execPath, join(import.meta.dirname, "../../controllers/main.ts")],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...env,
        PLOSIVE_DATABASE_POOL: "6",
        PLOSIVE_KUEUE: "off",
        PLOSIVE_POD_NAME: name,
        PLOSIVE_HEALTH_PORT: String(health),
        PLOSIVE_GATHER_SECONDS: "0.5",
        // No limits: the few tenants of a test have many concurrent jobs.
        PLOSIVE_QUOTA_RUNNING_TRAININGS: "0",
        PLOSIVE_QUOTA_RUNNING_INFERENCES: "0",
        PLOSIVE_QUOTA_RUNNING_EMBEDDINGS: "0",
        ...settings,
      },
    },
  );
  let log = "";
  child.stdout.on("data", (chunk: Buffer) => {
    log = (log + chunk).slice(-100_000);
    appendFileSync(join(world.dir, "operators.log"), chunk);
  });
  const exited = once(child, "exit").then(async ([code]) => {
    await Promise.all([api.stop(), postgres.stop()]);
    return code as number | null;
  });
  const isGone = () => child.exitCode !== null || child.signalCode !== null;
  const replica: Replica = {
    name,
    api,
    child,
    async ready() {
      await poll(
        `${name} to be ready`,
        async () =>
          isGone() ||
          ((await fetch(`http://127.0.0.1:${health}/readyz`)).ok && api.seen.includes("GET leases")),
        600_000,
      );
    },
    leads: () => log.includes("this replica leads"),
    isGone,
    tail: () => log.split("\n").slice(-25).join("\n"),
    end: (signal) => {
      if (!isGone()) child.kill(signal);
      return exited;
    },
  };
  return Object.assign(self, replica);
}
