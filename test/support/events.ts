// A reader of server-sent events, for tests: it keeps the received text and the parsed events.
import { poll } from "./poll.ts";

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
