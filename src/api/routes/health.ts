// /healthz, /readyz and /startupz, for the probes of the Deployment. No key needed.
import { z } from "zod";
import { isMigrated } from "../../db/driver/migrate.ts";
import { notReady } from "../../errors.ts";
import { defineRoute, type HandlerDeps } from "../route.ts";

const text = { status: 200, contentType: "text/plain; charset=utf-8", schema: z.string() } as const;

const health = defineRoute("GET", "/healthz", {
  operationId: "getHealth",
  summary: "Liveness: the process is running",
  auth: false,
  answer: { ...text, description: "The process is running" },
  handler: () => ({ body: "ok\n" }),
});

const readiness = defineRoute("GET", "/readyz", {
  operationId: "getReadiness",
  summary: "Readiness: the database can be reached and is migrated, and the process is not shutting down",
  auth: false,
  failures: [503],
  answer: { ...text, description: "The process accepts requests" },
  handler: async ({ deps }) => {
    const lines = { database: await databaseState(deps), shutdown: deps.isDraining() ? "fail" : "ok" };
    const states = Object.entries(lines).map(([name, state]) => `${name} ${state}`);
    if (Object.values(lines).includes("fail")) throw notReady(states.join(", "));
    return { body: states.map((line) => `${line}\n`).join("") };
  },
});

const startup = defineRoute("GET", "/startupz", {
  operationId: "getStartup",
  summary: "Startup: the process has reached a migrated database at least once",
  auth: false,
  failures: [503],
  answer: { ...text, description: "The process has started; it keeps this response from now on" },
  handler: async ({ deps }) => {
    if (!started.has(deps.pool) && (await databaseState(deps)) === "fail") throw notReady("database fail");
    started.add(deps.pool);
    return { body: "ok\n" };
  },
});

type Pool = HandlerDeps["pool"];
type State = "ok" | "fail";

/** Pools of the APIs that have started. Keyed by pool, because tests run more than one API in a process. */
const started = new WeakSet<Pool>();

/** The last check of each pool. Anybody may call the probes, so one check serves all calls of a second. */
const checks = new WeakMap<Pool, { readonly at: number; readonly state: Promise<State> }>();
const checkEveryMs = 1_000;

function databaseState({ pool, log }: HandlerDeps): Promise<State> {
  const last = checks.get(pool);
  if (last !== undefined && performance.now() - last.at < checkEveryMs) return last.state;
  const state = isMigrated(pool).then(
    (migrated): State => (migrated ? "ok" : "fail"),
    (err: unknown): State => {
      log.warn({ err }, "a probe found that the database cannot be reached");
      return "fail";
    },
  );
  checks.set(pool, { at: performance.now(), state });
  return state;
}

export const routes = [health, readiness, startup];
