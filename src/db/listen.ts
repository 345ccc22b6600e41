// The one connection of a process that hears notifications of Postgres (migration 0007). Made by src/main.ts; used by the
// dispatcher of webhooks and by answers that wait. What is told while it is away is lost, so it says when it came back.
import { Client } from "pg";
import type { Log } from "../log.ts";

export const channels = [
  "plosive_inbox",
  "plosive_events",
  "plosive_deliveries",
  "plosive_jobs",
  "plosive_keys",
] as const;
export type Channel = (typeof channels)[number];

/** Called with what the notification carries; with null when some may have been missed. */
export type Heard = (payload: string | null) => void;

export interface Listener {
  /** Connects with the first call. Returns how to stop hearing. */
  on(channel: Channel, heard: Heard): () => void;
  end(): Promise<void>;
}

const pingMs = 20_000;
const pauses = [100, 500, 1_000, 2_000, 5_000];

export function makeListener({ url, log }: { url: string; log: Log }): Listener {
  const ears = new Map<Channel, Set<Heard>>();
  let started: Promise<void> | undefined;
  let ended = false;
  let client: Client | undefined;
  let wakeUp = () => {};

  const tellAll = () => {
    for (const set of ears.values()) for (const heard of set) heard(null);
  };

  /** Until end(): connects, hears until the connection breaks, waits a little. */
  const run = async () => {
    for (let failures = 0; !ended; failures++) {
      const own = new Client({
        connectionString: url,
        application_name: "plosive-listen",
        connectionTimeoutMillis: 3_000,
        query_timeout: 5_000,
        keepAlive: true,
      });
      client = own;
      try {
        await hear(own, () => {
          failures = 0;
          tellAll();
        });
      } catch (error) {
        if (!ended) log.warn({ reason: String(error) }, "notifications of the database are interrupted");
      } finally {
        await own.end().catch(() => {});
      }
      if (!ended) await pause(pauses[Math.min(failures, pauses.length - 1)] ?? 5_000);
    }
  };

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** Rejects when the connection breaks; a peer that went silent is noticed by a ping. */
  const hear = async (own: Client, connected: () => void) => {
    const broken = new Promise<never>((_, reject) => {
      own.on("error", reject);
      own.on("end", () => reject(new Error("the connection was closed")));
    });
    // Awaited below only once it is connected.
    broken.catch(() => {});
    own.on("notification", ({ channel, payload }) => {
      for (const heard of ears.get(channel as Channel) ?? []) heard(payload ?? "");
    });
    await own.connect();
    await own.query(channels.map((channel) => `listen ${channel}`).join("; "));
    connected();
    const ping = setInterval(() => own.query("select 1").catch((error) => own.emit("error", error)), pingMs);
    await broken.finally(() => clearInterval(ping));
  };

  return {
    on: (channel, heard) => {
      const set = ears.get(channel) ?? new Set();
      ears.set(channel, set.add(heard));
      if (!ended) started ??= run();
      return () => set.delete(heard);
    },
    end: async () => {
      ended = true;
      wakeUp();
      await client?.end().catch(() => {});
      await started;
    },
  };
}
