// Assembles the REST API into one request listener. Called by src/main.ts and by the tests, which pass all
// dependencies.
import type { RequestListener } from "node:http";
import Koa from "koa";
import type { Registry } from "prom-client";
import { makeFindCaller } from "../db/callers.ts";
import { makeSecretBox } from "../webhooks/secret.ts";
import { discardUnread } from "./body/discard.ts";
import { makeBodyMemory } from "./body/memory.ts";
import { makeReadBody } from "./body/threads.ts";
import { dashboard } from "./dashboard/dashboard.ts";
import type { ApiDeps } from "./deps.ts";
import { docsPage } from "./docs-page.ts";
import { makeFailedAuthLimiter } from "./failed-auth-limiter.ts";
import { makeLive } from "./live.ts";
import { answerErrors } from "./middleware/answer-errors.ts";
import { boundUnread } from "./middleware/bound-unread.ts";
import { cors } from "./middleware/cors.ts";
import { observe } from "./middleware/observe.ts";
import { paceStrangers } from "./middleware/pace-strangers.ts";
import { requestId } from "./middleware/request-id.ts";
import { secureHeaders } from "./middleware/secure-headers.ts";
import { trace } from "./middleware/trace.ts";
import { makePace } from "./pace.ts";
import { makeRateLimit } from "./rate-limit.ts";
import type { SharedDeps } from "./route.ts";
import { makeRouter } from "./router.ts";
import { routes } from "./routes/index.ts";
import { makeShares } from "./shares.ts";
import { makeReadWaveform } from "./waveform.ts";

export interface App {
  readonly listener: RequestListener;
  /** Makes /readyz fail, so that no new requests arrive, and ends event streams and long polls. */
  drain(): void;
  /** Resolves when all background work has ended. */
  settle(): Promise<void>;
}

export function makeApp(deps: ApiDeps & { readonly registry: Registry }): App {
  let draining = false;
  // Upper bound of connections for waiting requests. Other requests keep the rest.
  const third = Math.max(1, Math.floor((deps.db.configuration.maxPoolSize ?? 10) / 3));
  const live = makeLive({ ...deps, connections: third });
  const pending = new Set<Promise<void>>();
  const shared: SharedDeps = {
    ...deps,
    isDraining: () => draining,
    live,
    secrets: makeSecretBox(deps.config.PLOSIVE_WEBHOOK_SECRET_KEY, deps.random),
    shares: makeShares(deps.registry, deps.db),
    bodyMemory: makeBodyMemory(),
    readBody: makeReadBody(),
    readWaveform: makeReadWaveform(),
    rates: makeRateLimit(deps),
    findCaller: makeFindCaller(deps.db),
    failedAuth: makeFailedAuthLimiter(deps),
    pace: makePace(),
    background: (what, work) => {
      const done = (async () => void (await work()))().catch((err) =>
        deps.log.warn({ err }, `background work failed: could not ${what}; it will be tried again later`),
      );
      pending.add(done);
      done.finally(() => pending.delete(done));
    },
  };

  const app = new Koa();
  app.use(discardUnread(deps.config));
  app.use(boundUnread(deps.log));
  app.use(requestId);
  if (deps.tracing !== undefined) app.use(trace(deps.tracing));
  app.use(observe(deps.registry, deps.log));
  app.use(secureHeaders);
  app.use(cors(deps.config.PLOSIVE_CORS_ORIGINS));
  app.use(answerErrors(deps.log));
  app.use(paceStrangers(shared));
  app.use(dashboard(shared));
  app.use(docsPage(deps.config.PLOSIVE_DOCS_ENABLED));
  for (const middleware of makeRouter(routes, shared)) app.use(middleware);
  // Koa reports here only errors after the response headers were sent. The client sees a closed connection.
  app.on("error", (err: NodeJS.ErrnoException) => {
    // A client that closes its connection is the normal end of an event stream.
    const level = err.code === "ERR_STREAM_PREMATURE_CLOSE" ? "debug" : "warn";
    deps.log[level]({ err }, "a response was cut off before its end");
  });

  return {
    listener: app.callback(),
    drain: () => {
      draining = true;
      live.end();
    },
    settle: async () => {
      await Promise.all(pending);
    },
  };
}
