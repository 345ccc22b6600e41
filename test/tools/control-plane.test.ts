// The control plane that other tests use: it becomes ready, can be restarted at the same address, and leaves nothing
// behind.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { answers } from "../../tools/cluster/api-call.ts";
import { startControlPlane } from "../../tools/cluster/control-plane.ts";
import { pkiAt } from "../../tools/cluster/pki.ts";

const root = mkdtempSync(join(tmpdir(), "plosive-control-plane-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Command lines of living processes that contain the name of a folder. Zombies have no command line. */
function processesOf(dir: string): string[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    })
    .filter((command) => command.includes(`${dir}/`));
}

test("the API server restarts at the same address with its data, and a stop leaves no process and no folder", {
  timeout: 120_000,
}, async () => {
  const dir = join(root, "restart");
  const plane = await startControlPlane({ dir });
  const admin = pkiAt(join(dir, "pki"));
  expect(processesOf(dir)).toHaveLength(2);
  await plane.stopApiServer();
  expect(await answers(admin, `${plane.server}/readyz`)).toBe(false);
  expect(processesOf(dir)).toHaveLength(1);
  await plane.startApiServer();
  expect(await answers(admin, `${plane.server}/api/v1/namespaces/kube-system`)).toBe(true);
  await plane.stop();
  expect(processesOf(dir)).toEqual([]);
  expect(existsSync(dir)).toBe(false);
});

test("the control plane of a killed test process ends with it", { timeout: 120_000 }, async () => {
  const dir = join(root, "killed");
  const module = new URL("../../tools/cluster/control-plane.ts", import.meta.url).href;
  const script = `
    const { startControlPlane } = await import(${JSON.stringify(module)});
    await startControlPlane({ dir: ${JSON.stringify(dir)}, withControllerManager: true, withScheduler: true });
    console.log("ready");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`ended with ${code} before its control plane was ready`)));
  });
  expect(processesOf(dir).filter((command) => command.includes("/bin/"))).toHaveLength(4);
  child.removeAllListeners("exit");
  child.kill("SIGKILL");
  await expect.poll(() => processesOf(dir), { timeout: 10_000 }).toEqual([]);
});
