// `make dev-up` and `make dev-down`: servers for tests that stay running between test runs (testing/servers.ts).
// Usage: tools/dev.ts up|down|status. Both may be repeated; down leaves no process and no file.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheDir } from "./cache.ts";
import { endProcessesWith, processesWith } from "./testing/leftovers.ts";
import { devMark, dropState, findDevServers, keepState, startServers } from "./testing/servers.ts";

const log = join(cacheDir, "dev-servers.log");
const say = (text: string) => void process.stdout.write(`dev: ${text}\n`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

switch (process.argv[2]) {
  case "up":
    await up();
    break;
  case "down":
    await down();
    break;
  case "status":
    say(findDevServers() === undefined ? "no test servers are running" : "the test servers are running");
    break;
  case "serve":
    await serve();
    break;
  default:
    process.stderr.write("usage: tools/dev.ts up|down|status\n");
    process.exitCode = 2;
}

async function up(): Promise<void> {
  if (findDevServers() !== undefined) {
    say("the test servers are running already");
    return;
  }
  // Servers of another version, or what a killed start left behind.
  await down();
  mkdirSync(cacheDir, { recursive: true });
  const output = openSync(log, "w", 0o600);
  const child = spawn(process.execPath, [import.meta.filename, "serve"], {
    detached: true,
    stdio: ["ignore", output, output],
    env: { ...process.env, [devMark.name]: devMark.value },
  });
  closeSync(output);
  child.unref();
  const deadline = Date.now() + 120_000;
  while (findDevServers() === undefined) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await down();
      const text = readFileSync(log, "utf8").trimEnd().split("\n").slice(-20).join("\n");
      throw new Error(`dev: the test servers did not start. The end of ${log}:\n${text}`);
    }
    await pause(100);
  }
  say("Postgres, S3 and a control plane are running; make dev-down ends them");
}

async function down(): Promise<void> {
  const found = processesWith(devMark.name, devMark.value);
  const server = found.find(({ command }) => command.endsWith("tools/dev.ts serve"));
  if (server !== undefined) process.kill(server.pid, "SIGTERM");
  const deadline = Date.now() + 30_000;
  while (processesWith(devMark.name, devMark.value).length > 0 && Date.now() < deadline) await pause(100);
  endProcessesWith(devMark.name, devMark.value);
  dropState();
  if (found.length > 0) say("the test servers are stopped");
  rmSync(log, { force: true });
}

async function serve(): Promise<void> {
  const servers = await startServers();
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await servers.stop();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void stop());
  await servers.plane;
  keepState(servers);
  await new Promise(() => setInterval(() => {}, 1 << 30));
}
