// Kills a process between two of its calls: proxies in front of its real Postgres and S3 server count the answered
// calls, and SIGKILL ends the process before it receives the n-th answer. No product code is involved.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { nodeEnv } from "../../tools/process.ts";
import { poll } from "./poll.ts";

export interface FaultProxies {
  readonly databaseUrl: string;
  readonly storeUrl: string;
  /**
   * Counts calls from now on. `strike` is called once `after` of them were answered, and nothing is forwarded any more.
   */
  arm(after: number, strike: () => void): void;
  /** Disables the strike and returns how many calls were answered since arm(). */
  disarm(): number;
  /** Resolves when the servers have noticed the closed connections, so that open transactions are rolled back. */
  severed(): Promise<void>;
  stop(): Promise<void>;
}

async function startFaultProxies(databaseUrl: string, storeUrl: string): Promise<FaultProxies> {
  let plan: { after: number; calls: number; strike: () => void } | undefined;
  let struck = false;
  const upstreams = new Set<Socket>();
  const servers: Server[] = [];

  /** True when nothing may be forwarded: the process has been killed. */
  const due = () => {
    if (plan === undefined || plan.calls < plan.after || struck) return struck;
    struck = true;
    plan.strike();
    return true;
  };
  const answered = () => {
    if (plan !== undefined) plan.calls += 1;
    return due();
  };
  const proxy = async (target: string, makeReader: () => CallReader) => {
    const { hostname, port } = new URL(target);
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      const reader = makeReader();
      upstreams.add(upstream);
      upstream.on("close", () => upstreams.delete(upstream));
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        from.on("error", () => from.destroy());
        // The server reads what the client has sent, then the end, and closes: that is what severed() waits for.
        from.on("close", () => (to === upstream ? to.end() : to.destroy()));
      }
      client.on("data", (data) => {
        // With `after` = 0 the strike is due before the first call.
        if (reader.sent(data) && due()) return;
        upstream.write(data);
      });
      upstream.on("data", (data) => {
        const calls = reader.received(data);
        for (let i = 0; i < calls; i++) if (answered()) return;
        if (!struck) client.write(data);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
    const address = server.address();
    const url = new URL(target);
    url.host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    return url.href.replace(/\/$/, "");
  };

  return {
    databaseUrl: await proxy(databaseUrl, postgresReader),
    storeUrl: await proxy(storeUrl, httpReader),
    arm: (after, strike) => {
      plan = { after, calls: 0, strike };
    },
    disarm: () => {
      const calls = plan?.calls ?? 0;
      plan = undefined;
      return calls;
    },
    severed: async () => {
      await poll("the servers to end the connections", () => upstreams.size === 0);
    },
    stop: async () => {
      for (const upstream of upstreams) upstream.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

interface CallReader {
  /** Whether a call begins or continues in these bytes. */
  sent(data: Buffer): boolean;
  /** How many calls are answered by these bytes. */
  received(data: Buffer): number;
}

/** Messages in both directions are a letter and a length. ReadyForQuery answers a statement and the log-in. */
function postgresReader(): CallReader {
  let loggedIn = false;
  let rest = Buffer.alloc(0);
  return {
    sent: () => loggedIn,
    received: (data) => {
      rest = Buffer.concat([rest, data]);
      let calls = 0;
      while (rest.length >= 5) {
        const length = 1 + rest.readUInt32BE(1);
        if (rest.length < length) break;
        const isReady = rest[0] === "Z".charCodeAt(0);
        if (isReady && loggedIn) calls += 1;
        loggedIn ||= isReady;
        rest = rest.subarray(length);
      }
      return calls;
    },
  };
}

/** The SDK sends one request at a time on a connection. The head of the answer arrives when the work is done. */
function httpReader(): CallReader {
  let open = false;
  return {
    sent: () => {
      open = true;
      return true;
    },
    received: () => {
      const calls = open ? 1 : 0;
      open = false;
      return calls;
    },
  };
}

export interface Victim {
  readonly url: string;
  readonly faults: FaultProxies;
  readonly child: ChildProcess;
  /** Resolves when the process is gone and its servers have noticed. */
  gone(): Promise<void>;
  /** Waits until a condition of the process is true; rejects at once if the process exits first. */
  until(what: string, probe: () => Promise<boolean>): Promise<void>;
}

/** Starts a process behind its own proxies. `env` receives their addresses. */
export async function startVictim(
  servers: { databaseUrl: string; storeUrl: string },
  command: readonly string[],
  env: (faults: FaultProxies) => Record<string, string>,
): Promise<Omit<Victim, "url">> {
  const faults = await startFaultProxies(servers.databaseUrl, servers.storeUrl);
  const child = spawn(process.execPath, command, {
    env: { ...nodeEnv, ...env(faults) },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const exited = once(child, "exit");
  return {
    faults,
    child,
    until: async (what, probe) => {
      const ended = exited.then(([code]) => {
        throw new Error(`the process ended with ${code} while the test waited for ${what}`);
      });
      try {
        await Promise.race([poll(what, probe, 180_000), ended]);
      } catch (error) {
        // It holds the output of the test runner, which would wait for it.
        child.kill("SIGKILL");
        throw error;
      }
    },
    gone: async () => {
      await exited;
      await faults.severed();
      await faults.stop();
    },
  };
}
