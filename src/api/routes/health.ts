// /healthz, /readyz and /startupz, for the probes of the Deployment. No key needed.
import { z } from "zod";
import { isMigrated } from "../../db/migrate.ts";
import { notReady } from "../../errors.ts";
import { defineRoute, type HandlerDeps } from "../route.ts";

export const health = defineRoute({
  method: "GET",
  path: "/healthz",
  operationId: "getHealth",
  summary: "Liveness: the process is running",
  tag: "Service",
  auth: false,
  answer: {
    status: 200,
    description: "The process is running",
    contentType: "text/plain; charset=utf-8",
    schema: z.string(),
  },
  handler: () => ({ body: "ok\n" }),
});

export const readiness = defineRoute({
  method: "GET",
  path: "/readyz",
  operationId: "getReadiness",
  summary: "Readiness: the database can be reached and is migrated, and the process is not shutting down",
  tag: "Service",
  auth: false,
  failures: [503],
  answer: {
    status: 200,
    description: "The process accepts requests",
    contentType: "text/plain; charset=utf-8",
    schema: z.string(),
  },
  handler: async ({ deps }) => {
    const lines = { database: await databaseState(deps), shutdown: deps.isDraining() ? "fail" : "ok" };
    const states = Object.entries(lines).map(([name, state]) => `${name} ${state}`);
    if (Object.values(lines).includes("fail")) throw notReady(states.join(", "));
    return { body: states.map((line) => `${line}\n`).join("") };
  },
});

export const startup = defineRoute({
  method: "GET",
  path: "/startupz",
  operationId: "getStartup",
  summary: "Startup: the process has reached a migrated database at least once",
  tag: "Service",
  auth: false,
  failures: [503],
  answer: {
    status: 200,
    description: "The process has started; it keeps this response from now on",
    contentType: "text/plain; charset=utf-8",
    schema: z.string(),
  },
  handler: async ({ deps }) => {
    if (!started.has(deps.pool) && (await databaseState(deps)) === "fail") throw notReady("database fail");
    started.add(deps.pool);
    return { body: "ok\n" };
  },
});

/** Pools of the APIs that have started. A set, because tests run more than one API in a process. */
const started = new WeakSet<HandlerDeps["pool"]>();

async function databaseState(deps: HandlerDeps): Promise<"ok" | "fail"> {
  try {
    return (await isMigrated(deps.pool)) ? "ok" : "fail";
  } catch (err) {
    deps.log.warn({ err }, "a probe found that the database cannot be reached");
    return "fail";
  }
}
