// One measurement of one server: a separate process generates the load, and CPU time and memory of all processes are
// recorded. Called by main.ts.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LoadJob, LoadResult } from "./load.ts";
import { cpuSeconds, residentBytes, type Server } from "./servers.ts";

export interface Measured extends LoadResult {
  readonly perSecond: number;
  /** CPU milliseconds per request: of the server, and of all Postgres processes. */
  readonly serverCpuMs: number;
  readonly postgresCpuMs: number;
  /** The peak resident memory of the server. */
  readonly peakBytes: number;
}

export async function measure(
  server: Server,
  postgresPid: number,
  job: Omit<LoadJob, "port">,
): Promise<Measured> {
  const before = { server: cpuSeconds(server.pid), postgres: cpuOfFamily(postgresPid) };
  const watch = watchMemory(server.pid);
  const result = await load({ ...job, port: server.port });
  const requests = result.requests + job.warmUp;
  return {
    ...result,
    perSecond: result.requests / result.seconds,
    serverCpuMs: ((cpuSeconds(server.pid) - before.server) / requests) * 1_000,
    postgresCpuMs: ((cpuOfFamily(postgresPid) - before.postgres) / requests) * 1_000,
    peakBytes: watch.end(),
  };
}

/** Samples every 20 ms. */
export function watchMemory(pid: number): { end(): number } {
  let peak = residentBytes(pid);
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(pid));
  }, 20);
  return {
    end: () => {
      clearInterval(timer);
      return Math.max(peak, residentBytes(pid));
    },
  };
}

async function load(job: LoadJob): Promise<LoadResult> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "load.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(job));
  let output = "";
  for await (const chunk of child.stdout) output += chunk;
  return JSON.parse(output) as LoadResult;
}

/** CPU time of a process and its children, including those that have exited. */
export function cpuOfFamily(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean);
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const ended = (Number(fields[13]) + Number(fields[14])) / 100;
  return children.map(Number).reduce((sum, child) => sum + ofLiving(child), ended + cpuSeconds(pid));
}

function ofLiving(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0;
  }
}
