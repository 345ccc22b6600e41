// Events for tests: a reader of server-sent events, which keeps the received text and the parsed events, and what emits them.
import { sql } from "slonik";
import { afterAll } from "vitest";
import { numberEvents } from "../../src/db/event.ts";
import { type Client, execute, type TestApi } from "./api.ts";
import { poll } from "./poll.ts";

/** Called at the top of test files: `const { stream, emit } = useEvents(api)`. Closes the streams after the tests. */
export function useEvents(api: TestApi) {
  const open: EventReader[] = [];
  afterAll(() => {
    for (const reader of open) reader.close();
  });
  return {
    stream: async (client: Client, query = "", headers: Record<string, string> = {}) => {
      // Numbers pending events first, such as the one for the tenant's new key, so that no old event arrives in the stream.
      while ((await numberEvents(api.pool))?.more !== false);
      const reader = await readEvents(`${api.url}/api/v1/events/stream${query}`, client.key, headers);
      open.push(reader);
      return reader;
    },
    /** Emits an event, and numbers it as the dispatcher of any process does. */
    emit: async (tenantId: string, type: string, data: object = {}, times = 1): Promise<void> => {
      await execute(
        api.db,
        sql.fragment`select emit_event(${tenantId}::uuid, ${type}, ${JSON.stringify(data)}::jsonb)
          from generate_series(1, ${times})`,
      );
      while ((await numberEvents(api.pool))?.more !== false);
    },
  };
}

export interface SeenEvent {
  readonly id: number;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

export interface EventReader {
  readonly status: number;
  readonly headers: Headers;
  readonly events: SeenEvent[];
  /** All received text. */
  text(): string;
  /** Resolves once the stream has ended, in any way. */
  readonly ended: Promise<"closed" | "cut">;
  /** Waits until an event of this type has arrived. */
  until(type: string, timeoutMs?: number): Promise<SeenEvent>;
  close(): void;
}

export async function readEvents(
  url: string,
  key: string,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const abort = new AbortController();
  const response = await fetch(url, { headers: { "X-API-Key": key, ...headers }, signal: abort.signal });
  const events: SeenEvent[] = [];
  let text = "";
  const read = async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk, { stream: true });
      text += piece;
      const blocks = (rest + piece).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const match = /^id: (\d+)\ndata: (.*)$/.exec(block);
        if (match?.[2] === undefined) continue;
        const event = JSON.parse(match[2]);
        if (String(event.id) !== match[1]) throw new Error(`the id of ${block} differs from its data`);
        events.push(event);
      }
    }
    return "closed" as const;
  };
  const ended = read().catch(() => "cut" as const);
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => text,
    ended,
    until: (type, timeoutMs) =>
      poll(`an event ${type}`, () => events.find((event) => event.type === type), timeoutMs),
    close: () => abort.abort(),
  };
}
