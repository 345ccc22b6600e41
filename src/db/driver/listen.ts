// The connection on which a process receives Postgres notifications (LISTEN, migration 0007). Notifications are lost
// while it is down, so it calls all handlers when it reconnects. Made by src/main.ts and controllers/background.ts; used by
// src/events.ts, src/webhooks/dispatch.ts and responses that wait for changes.
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { Log } from "../../log.ts";
import type { Role } from "./pool.ts";

export const channels = [
  "plosive_inbox",
  "plosive_events",
  "plosive_deliveries",
  "plosive_jobs",
  "plosive_keys",
] as const;
export type Channel = (typeof channels)[number];

/** Handles a notification's payload; null after a (re)connection, when notifications may have been missed. */
export type NotificationHandler = (payload: string | null) => void;

export interface Listener {
  /** Subscribes; the first call connects. Returns a function that unsubscribes. */
  on(channel: Channel, handler: NotificationHandler): () => void;
  end(): Promise<void>;
}

const pingMs = 20_000;
const pauses = [100, 500, 1_000, 2_000, 5_000];

export interface ListenerOptions {
  readonly url: string;
  /** The role that the session takes, so that it keeps no rights of the user. */
  readonly role?: Role;
  readonly log: Log;
}

export function makeListener({ url, role, log }: ListenerOptions): Listener {
  const handlers = new Map<Channel, Set<NotificationHandler>>();
  let started: Promise<void> | undefined;
  const end = new AbortController();
  let client: Client | undefined;

  const notifyAll = () => {
    for (const set of handlers.values()) for (const handler of set) handler(null);
  };

  /** Repeats until end(): connects, listens until the connection breaks, pauses. */
  const run = async () => {
    for (let failures = 0; !end.signal.aborted; failures++) {
      const own = new Client({
        connectionString: url,
        application_name: "plosive-listen",
        connectionTimeoutMillis: 3_000,
        query_timeout: 5_000,
        keepAlive: true,
      });
      client = own;
      try {
        await listenOn(own, () => {
          failures = 0;
          notifyAll();
        });
      } catch (error) {
        if (!end.signal.aborted)
          log.warn(
            { reason: String(error) },
            "the database connection for notifications broke; reconnecting",
          );
      } finally {
        await own.end().catch(() => {});
      }
      // Rejects at once when end() has been called.
      await pause(pauses[failures] ?? 5_000, undefined, { signal: end.signal }).catch(() => {});
    }
  };

  /** Listens until the connection breaks, then rejects. A ping every 20 s detects a dead peer. */
  const listenOn = async (own: Client, connected: () => void) => {
    const broken = new Promise<never>((_, reject) => {
      own.on("error", reject);
      own.on("end", () => reject(new Error("the connection was closed")));
    });
    // Avoids an unhandled rejection: the promise is awaited only after the connection is open.
    broken.catch(() => {});
    own.on("notification", ({ channel, payload }) => {
      for (const handler of handlers.get(channel as Channel) ?? []) handler(payload ?? "");
    });
    // pg never settles connect() when end() comes first.
    await Promise.race([own.connect(), broken]);
    const take = role === undefined ? [] : [`set role ${role}`];
    await own.query([...take, ...channels.map((channel) => `listen ${channel}`)].join("; "));
    connected();
    const ping = setInterval(() => own.query("select 1").catch((error) => own.emit("error", error)), pingMs);
    await broken.finally(() => clearInterval(ping));
  };

  return {
    on: (channel, handler) => {
      const set = handlers.get(channel) ?? new Set();
      handlers.set(channel, set.add(handler));
      if (!end.signal.aborted) started ??= run();
      return () => set.delete(handler);
    },
    end: async () => {
      end.abort();
      await client?.end().catch(() => {});
      await started;
    },
  };
}
