// /healthz, /readyz and /startupz, for the probes of the Deployment. No key needed.
import { z } from "zod";
import { isMigrated } from "../../db/migrate.ts";
import { notReady } from "../../errors.ts";
import { defineRoute, type HandlerDeps } from "../route.ts";

export const health = defineRoute({
  method: "GET",
  path: "/healthz",
  operationId: "getHealth",
  summary: "Whether the process lives",
  tag: "Service",
  auth: false,
  answer: {
    status: 200,
    description: "It does",
    contentType: "text/plain; charset=utf-8",
    schema: z.string(),
  },
  handler: () => ({ body: "ok\n" }),
});

export const readiness = defineRoute({
  method: "GET",
  path: "/readyz",
  operationId: "getReadiness",
  summary: "Whether requests may be sent here: database reachable and migrated, not shutting down",
  tag: "Service",
  auth: false,
  failures: [503],
  answer: {
    status: 200,
    description: "They may",
    contentType: "text/plain; charset=utf-8",
    schema: z.string(),
  },
  handler: async ({ deps }) => {
    const lines = { database: await databaseState(deps), shutdown: deps.isDraining() ? "fail" : "ok" };
    const told = Object.entries(lines).map(([name, state]) => `${name} ${state}`);
    if (Object.values(lines).includes("fail")) throw notReady(told.join(", "));
    return { body: told.map((line) => `${line}\n`).join("") };
  },
});

export const startup = defineRoute({
  method: "GET",
  path: "/startupz",
  operationId: "getStartup",
  summary: "Whether the process has begun: its database was reached and migrated once",
  tag: "Service",
  auth: false,
  failures: [503],
  answer: {
    status: 200,
    description: "It has, and from now on this is the answer",
    contentType: "text/plain; charset=utf-8",
    schema: z.string(),
  },
  handler: async ({ deps }) => {
    if (!started.has(deps.pool) && (await databaseState(deps)) === "fail") throw notReady("database fail");
    started.add(deps.pool);
    return { body: "ok\n" };
  },
});

/** By their databases: tests have more than one API in a process. */
const started = new WeakSet<HandlerDeps["pool"]>();

async function databaseState(deps: HandlerDeps): Promise<"ok" | "fail"> {
  try {
    return (await isMigrated(deps.pool)) ? "ok" : "fail";
  } catch (err) {
    deps.log.warn({ err }, "the database cannot be reached");
    return "fail";
  }
}
