// A Postgres server of one test, which the test may stop, restart and kill. Committed data survive, as in an
// installation.
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { serverPrograms, startPostgres, unprivilegedUser } from "../../tools/postgres.ts";
import { poll } from "./poll.ts";

const run = promisify(execFile);

export interface RestartablePostgres {
  readonly url: string;
  /** `fast` rolls back and stops cleanly, `immediate` stops at once, `kill` sends SIGKILL to all its processes. */
  down(how: "fast" | "immediate" | "kill"): Promise<void>;
  /** Resolves as soon as the server accepts connections again. */
  up(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  // Not below $TMPDIR: the server's own user must be able to enter every parent directory of its data.
  const dir = mkdtempSync("/tmp/plosive-restart-");
  chmodSync(dir, 0o755);
  const server = await startPostgres({ dir: join(dir, "postgres"), durable: true });
  const data = join(dir, "postgres", "data");
  let pid = server.pid;

  const control = async (...args: string[]) => {
    const owner = unprivilegedUser();
    const user = owner ? [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups"] : [];
    const program = join(serverPrograms(), "pg_ctl");
    await run("setpriv", [...user, "--", program, "-D", data, "-w", ...args], { cwd: dir });
  };
  const isUp = async () => {
    const client = new Client({ connectionString: server.url });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("select 1");
      return true;
    } finally {
      await client.end().catch(() => {});
    }
  };
  const down: RestartablePostgres["down"] = async (how) => {
    if (how !== "kill") return await control("stop", "-m", how);
    // Kills all of them, as when the machine runs out of memory: surviving children would keep the data directory in
    // use.
    // First SIGSTOP to the parent process, so that it starts no further child before all are killed.
    process.kill(pid, "SIGSTOP");
    const children = (await run("pgrep", ["-P", String(pid)])).stdout.trim().split("\n").map(Number);
    for (const victim of [pid, ...children]) end(victim);
    await poll("the server's processes to end", () => [pid, ...children].every((process) => !end(process)));
  };
  return {
    url: server.url,
    down,
    up: async () => {
      // The program and the options of the first start, each in quotes. -W: we wait ourselves, since the test is about
      // clients.
      const options = readFileSync(join(data, "postmaster.opts"), "utf8").trim().replace(/^\S+ /, "");
      await control("start", "-W", "-l", join(dir, "postgres", "restart.log"), "-o", options);
      await poll("postgres to accept connections", isUp, 30_000);
      pid = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    },
    stop: async () => {
      await control("stop", "-m", "immediate").catch(() => {});
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Whether a process was still running. */
function end(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
