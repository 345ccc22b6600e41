// Starts child processes with their output in a log file, and guarantees that they end. Called by the control plane, S3
// and Postgres of the tests, and by the cluster's supervisor.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";

/** What Node processes of tests get of our environment: the commands, and the place of compiled code (vitest.config.ts). */
export const nodeEnv: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

export interface Daemon {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<void>;
  /** True once the process has ended for any reason. */
  isGone(): boolean;
  /** The last lines of its log, for error messages. */
  tail(): string;
  /** Sends SIGKILL (or the given signal) and waits until the process has ended. Idempotent. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

export interface DaemonOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly log: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Starts a process that ends together with this one, even if this one is killed: `setpriv` sets the parent-death signal
 * before it executes the command. Otherwise a killed test run would leave API servers behind.
 */
export function startDaemon(options: DaemonOptions): Daemon {
  const log = openSync(options.log, "a");
  // setpriv must change the user itself: a later change of the user would clear the parent-death signal.
  const user =
    options.uid === undefined
      ? []
      : [`--reuid=${options.uid}`, `--regid=${options.gid ?? options.uid}`, "--clear-groups"];
  const child = spawn("setpriv", [...user, "--pdeathsig", "KILL", "--", options.command, ...options.args], {
    stdio: ["ignore", log, log],
    env: options.env ?? process.env,
    cwd: options.cwd,
  });
  closeSync(log);
  let gone = false;
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      gone = true;
      resolve();
    };
    child.once("exit", end);
    child.once("error", end);
  });
  return {
    name: options.name,
    pid: child.pid ?? -1,
    exited,
    isGone: () => gone,
    tail: () => readFileSync(options.log, "utf8").split("\n").slice(-25).join("\n"),
    async kill(signal = "SIGKILL") {
      if (!gone) child.kill(signal);
      await exited;
    },
  };
}

/** Polls `probe` until it returns true; fails at the deadline, or at once when a daemon has died or `check` throws. */
export async function waitUntil(
  what: string,
  probe: () => Promise<boolean>,
  { timeoutMs, daemons = [], check }: { timeoutMs: number; daemons?: readonly Daemon[]; check?: () => void },
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  // A probe may never end, such as a request to a server that accepts connections and says nothing.
  const { promise: late, resolve: setLate } = Promise.withResolvers<void>();
  const timer = setTimeout(setLate, timeoutMs);
  const isOver = Promise.race([late, ...daemons.map(({ exited }) => exited)]).then(() => false);
  try {
    while (!(await Promise.race([probe().catch(() => false), isOver]))) {
      check?.();
      const dead = daemons.find((daemon) => daemon.isGone());
      if (dead)
        throw new Error(
          `${dead.name} exited while waiting for ${what}; last lines of its log:\n${dead.tail()}`,
        );
      if (Date.now() > deadline) {
        const logs = daemons.map((daemon) => `--- ${daemon.name}\n${daemon.tail()}`).join("\n");
        throw new Error(`timed out after ${timeoutMs / 1000} s waiting for ${what}\n${logs}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Ports that servers of tests may take: below the range from which the kernel takes the ports of connections and of servers that
 * name none, or one of these could take a port before its server does; and none of Kubernetes' own (up to 10,259, from 30,000).
 */
const [lowestPort, highestPort] = [12_000, 29_999];

/** Finds free ports on all addresses. Holds all of them until the last one is known, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, holdFreePort));
  await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  return held.map(({ port }) => port);
}

async function holdFreePort(): Promise<{ server: Server; port: number }> {
  for (;;) {
    const port = randomInt(lowestPort, highestPort + 1);
    const server = createServer();
    const isFree = new Promise<boolean>((resolve, reject) => {
      server.once("error", (error: NodeJS.ErrnoException) =>
        error.code === "EADDRINUSE" ? resolve(false) : reject(error),
      );
      server.listen(port, () => resolve(true));
    });
    if (await isFree) return { server, port };
  }
}
