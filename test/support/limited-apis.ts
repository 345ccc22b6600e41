// API processes with rate limits, on one database and a clock that the tests set. Called at the top of test files:
// `const { clock, start } = useLimitedApis(database)`, then `await start(settings)` inside the tests.
import { Registry } from "prom-client";
import { afterAll } from "vitest";
import type { ApiSettings } from "../../src/config.ts";
import { makeTenant, type ServedApi, serveApi, testDeps, testSettings } from "./api.ts";
import type { TestDatabase } from "./postgres.ts";
import { useStorage } from "./s3.ts";

export function useLimitedApis(database: TestDatabase) {
  const store = useStorage();
  const started: ServedApi[] = [];
  const clock = { at: Date.now(), now: (): number => clock.at };
  afterAll(async () => {
    for (const served of started) await served.stop();
  });
  return {
    /** The clock of the API processes; the database has its own. */
    clock,
    /** The API processes, in the order of their start. */
    started,
    /** Starts an API process with these settings and returns its URL. */
    async start(settings: Partial<ApiSettings>, registry = new Registry()): Promise<string> {
      const deps = { ...testDeps(database.apiPool, store.storage), clock };
      deps.log.level = "silent";
      const served = await serveApi({ ...deps, registry, config: testSettings(settings) });
      started.push(served);
      return served.url;
    },
    newTenant: (url: string) => makeTenant(database.pool, url),
  };
}
