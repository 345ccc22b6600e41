// The dependencies that src/main.ts and the tests pass to makeApp: drivers, clock, randomness, settings. The rate
// limiters and route.ts import this file, so it must not import them.
import type { ApiSettings } from "../config.ts";
import type { Listener } from "../db/driver/listen.ts";
import type { DatabasePool } from "../db/driver/pool.ts";
import type { Log } from "../log.ts";
import type { Storage } from "../storage/storage.ts";
import type { Tracing } from "../tracing.ts";
import type { LiveTiming } from "./live.ts";

export interface JobRef {
  readonly kind: "training" | "inference" | "embedding";
  readonly id: string;
}

export interface ApiDeps {
  readonly db: DatabasePool;
  readonly storage: Storage;
  /** Creates or updates the custom resource of a tenant's job. Idempotent. Clients never see its failures. */
  readonly submit: (job: JobRef & { readonly tenantId: string }) => Promise<void>;
  readonly clock: { now(): number };
  readonly random: (size: number) => Uint8Array;
  readonly log: Log;
  /** The code that made the listener also ends it. */
  readonly listener: Listener;
  /** Overrides the default timing of event streams and long polls. */
  readonly timing?: Partial<LiveTiming>;
  readonly config: ApiSettings;
  /** Undefined: no traces. */
  readonly tracing?: Tracing | undefined;
}
