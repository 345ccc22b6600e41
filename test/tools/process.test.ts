// Waiting for a child process that does not become ready.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { startDaemon, waitUntil } from "../../tools/process.ts";

const folder = mkdtempSync(join(tmpdir(), "plosive-process-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const start = (name: string, ...args: readonly string[]) =>
  startDaemon({ name, command: "sleep", args, log: join(folder, "log") });
/** As of a server that accepts connections and says nothing. */
const silent = () => new Promise<boolean>(() => {});

it("ends at its limit although a probe does not end", async () => {
  const waiting = waitUntil("an answer", silent, { timeoutMs: 100 });
  await expect(waiting).rejects.toThrow("timed out after 0.1 s waiting for an answer");
}, 9_000);

it("ends when the process dies although a probe does not end", async () => {
  const daemon = start("sleeper", "3600");
  const waiting = waitUntil("an answer", silent, { timeoutMs: 3_600_000, daemons: [daemon] });
  const failed = expect(waiting).rejects.toThrow("sleeper exited while waiting for an answer");
  await daemon.kill();
  await failed;
}, 9_000);
