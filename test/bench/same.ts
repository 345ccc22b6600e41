// Checks that both servers give the same answers before anything is timed. Called by main.ts.
import assert from "node:assert/strict";
import type { LoadJob } from "./load.ts";
import type { Server } from "./servers.ts";

const instants = new Set([
  "created_at",
  "queued_at",
  "started_at",
  "completed_at",
  "published_at",
  "updated_at",
]);

/** Times may differ in format (pydantic writes microseconds), but not in the millisecond. */
function plain(value: unknown, name = ""): unknown {
  if (typeof value === "string" && instants.has(name)) return Math.floor(Date.parse(value));
  if (Array.isArray(value)) return value.map((item) => plain(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, plain(member, key)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

async function ask(server: Server, job: Pick<LoadJob, "method" | "paths" | "key" | "body" | "expect">) {
  const response = await fetch(`http://127.0.0.1:${server.port}${job.paths[0]}`, {
    method: job.method,
    headers: {
      "X-API-Key": job.key,
      ...(job.body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    body: job.body,
  });
  assert.equal(response.status, job.expect, `${server.name} ${job.method} ${job.paths[0]}`);
  return plain(await response.json());
}

type Ask = Parameters<typeof ask>[1];

/** The same read request must get the same answer. */
export async function requireSameAnswer(a: Server, b: Server, job: Ask): Promise<void> {
  assert.deepStrictEqual(await ask(a, job), await ask(b, job));
}

/** Two writes create two resources: values that the server chooses may differ, values of the request must not. */
export async function requireSameCreation(a: Server, b: Server, jobs: readonly [Ask, Ask]): Promise<void> {
  const [one, other] = [await ask(a, jobs[0]), await ask(b, jobs[1])].map((answer) => {
    const { items, total } = answer as { items: Record<string, unknown>[]; total: number };
    for (const item of items) {
      assert.match(String(item.id), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(typeof item.created_at, "number");
      assert.equal(item.updated_at, item.created_at);
    }
    return { total, items: items.map(({ id, created_at, updated_at, annotation_set_id, ...rest }) => rest) };
  });
  assert.deepStrictEqual(one, other);
}

/** Both servers must refuse the same requests. */
export async function requireSameRefusals(a: Server, b: Server, job: Ask, status: number, bodies: string[]) {
  for (const body of bodies) {
    for (const server of [a, b]) {
      const refused = await fetch(`http://127.0.0.1:${server.port}${job.paths[0]}`, {
        method: job.method,
        headers: { "X-API-Key": job.key, "Content-Type": "application/json" },
        body,
      });
      assert.equal(refused.status, status, `${server.name}: ${body.slice(0, 200)}`);
    }
  }
}
