// A page of Chromium whose requests no tool watches: the tool of the tests keeps the bodies of all responses in the memory
// of the page, which would be measured too. Called by measure.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface BarePage {
  /** The value of the expression, once it is settled. */
  evaluate(expression: string): Promise<unknown>;
  send(method: string, params?: object): Promise<Record<string, unknown>>;
  /** The process ids of the browser's renderers: the page's and a spare one. */
  renderers(): Promise<readonly number[]>;
  close(): Promise<void>;
}

export async function openBarePage(url: string, cookies: readonly object[]): Promise<BarePage> {
  const folder = mkdtempSync(join(tmpdir(), "plosive-browser-"));
  const args = [
    "--headless",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--window-size=1280,720",
  ];
  const browser = spawn(
    "/usr/bin/chromium-headless-shell",
    [...args, `--user-data-dir=${folder}`, "about:blank"],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const ended = once(browser, "exit");
  const address = await addressOf(browser.stderr);
  const socket = new WebSocket(address);
  await once(socket, "open");

  let nextId = 1;
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result, error } = JSON.parse(String(data));
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(error.message));
    waiting.delete(id);
  });
  const sendTo =
    (sessionId: unknown) =>
    (method: string, params: object = {}) => {
      const answer = Promise.withResolvers<Record<string, unknown>>();
      waiting.set(nextId, answer);
      socket.send(
        JSON.stringify({ id: nextId++, method, params, ...(sessionId !== undefined && { sessionId }) }),
      );
      return answer.promise;
    };
  const toBrowser = sendTo(undefined);
  await toBrowser("Storage.setCookies", { cookies });
  const { targetId } = await toBrowser("Target.createTarget", { url });
  const { sessionId } = await toBrowser("Target.attachToTarget", { targetId, flatten: true });
  const send = sendTo(sessionId);
  return {
    send,
    async renderers() {
      const { processInfo } = await toBrowser("SystemInfo.getProcessInfo");
      const all = processInfo as { type: string; id: number }[];
      return all.filter(({ type }) => type === "renderer").map(({ id }) => id);
    },
    async evaluate(expression) {
      const options = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await send("Runtime.evaluate", options);
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return (result as { value: unknown }).value;
    },
    async close() {
      socket.close();
      browser.kill();
      await ended;
      // Its processes may still write.
      for (let n = 0; n < 20; n++)
        try {
          return rmSync(folder, { recursive: true, force: true });
        } catch {
          await setTimeout(100);
        }
    },
  };
}

async function addressOf(stderr: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const chunk of stderr) {
    text += chunk;
    const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error(`Chromium did not start: ${text}`);
}
