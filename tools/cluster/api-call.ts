// GET requests to an API server as admin, without a client library. Called by control-plane.ts, up.ts, status.ts and
// supervisor.ts, which must work before npm ci has run.
import { readFileSync } from "node:fs";
import { request } from "node:https";
import type { Pki } from "./pki.ts";

/** GET as admin. Parses the body if it is JSON. Rejects if there is no response within 5 s. */
export function get(pki: Pki, url: string): Promise<{ status: number; body: unknown }> {
  const { cert, key } = pki.pair("admin");
  const options = {
    ca: readFileSync(pki.caFile),
    cert: readFileSync(cert),
    key: readFileSync(key),
    // No keep-alive: after a restart of the API server a kept connection would be dead.
    agent: false as const,
    timeout: 5_000,
  };
  return new Promise((resolve, reject) => {
    const call = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const isJson = response.headers["content-type"]?.startsWith("application/json") ?? false;
        resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
      });
    });
    call.on("timeout", () => call.destroy(new Error(`no response from ${url} within 5 s`)));
    call.on("error", reject);
    call.end();
  });
}

/** True if a GET as admin returns 200. */
export async function answers(pki: Pki, url: string): Promise<boolean> {
  return get(pki, url).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** True if the node is Ready. */
export async function isNodeReady(pki: Pki, server: string, node: string): Promise<boolean> {
  const { status, body } = await get(pki, `${server}/api/v1/nodes/${node}`);
  if (status !== 200) return false;
  const { conditions = [] } = (body as { status: { conditions?: { type: string; status: string }[] } })
    .status;
  return conditions.some((condition) => condition.type === "Ready" && condition.status === "True");
}
