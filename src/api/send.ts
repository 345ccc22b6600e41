// Sends the reply of a handler: headers, ETag, 304, and the body at once or in pieces. Called by answer.ts.
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { Context } from "koa";
import { etagOf, isUnchanged } from "./conditional.ts";
import { collectGarbageAfter } from "./garbage.ts";
import type { Reply, Route } from "./route.ts";

export function send(ctx: Context, route: Route, reply: Reply): void {
  ctx.set(reply.headers ?? {});
  if (reply.location !== undefined) ctx.set("Location", reply.location);
  ctx.state.created = reply.created?.length;
  const { stream } = reply;
  const text = textOf(reply);
  const shows = route.conditional || (route.guard !== undefined && route.method === "PATCH");
  const etag = reply.etag ?? (shows && text !== undefined ? etagOf(text) : undefined);
  if (etag !== undefined) ctx.set("ETag", etag);
  if (route.conditional && etag !== undefined) {
    ctx.set("Cache-Control", "private, no-cache");
    if (isUnchanged(ctx.req.headers["if-none-match"], etag)) {
      ctx.status = 304;
      return;
    }
  }
  ctx.status = route.answer.status;
  if (text === undefined && stream === undefined) return;
  ctx.type = reply.contentType ?? route.answer.contentType ?? "application/json; charset=utf-8";
  // Node sends a short string together with the headers in one piece, and needs no memory outside the heap for it.
  if (text !== undefined)
    ctx.body = typeof text === "string" && text.length >= shortText ? Buffer.from(text) : text;
  else if (stream !== undefined) ctx.body = stream instanceof Readable ? stream : encoded(stream);
}

/** The body as it is sent; undefined if there is none, or only a stream. */
export function textOf({ body }: Reply): string | Buffer | undefined {
  return typeof body === "string" || Buffer.isBuffer(body) || body === undefined
    ? body
    : JSON.stringify(body);
}

/** The reply with all of its body, without blocking the event loop while a stream is read. */
export async function whole({
  stream,
  ...reply
}: Reply): Promise<Reply & { readonly body: string | Buffer | undefined }> {
  if (stream === undefined) return { ...reply, body: textOf(reply) };
  return { ...reply, body: Buffer.concat(await encoded(stream).toArray()) };
}

const shortText = 16 * 1024;
const longPieceMs = 2;
const longScanMs = 50;
const longestRestMs = 3_000;

/** How long to rest after a query that may have passed many rows that do not match. */
export const restAfterScan = (tookMs: number) =>
  tookMs < longScanMs ? 0 : Math.min(3 * tookMs, longestRestMs);

/** A stream's rest that is due. */
export interface Rest {
  ms: number;
  readonly mayScan: boolean;
}

/**
 * Encodes the text pieces as bytes: a socket that has to encode text itself is four times slower. The stream counts
 * bytes, so with a slow reader at most one piece is buffered here. A long stream rests after each piece and leaves the time
 * to other requests. `rest` is what is still due when the stream closes.
 */
export function encoded(stream: AsyncIterable<string>, rest: Rest = { ms: 0, mayScan: false }): Readable {
  const bytes = async function* () {
    const pieces = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        const begun = performance.now();
        const { value, done } = await pieces.next().finally(() => {
          const took = performance.now() - begun;
          rest.ms = took > longPieceMs ? Math.max(took, rest.mayScan ? restAfterScan(took) : 0) : 0;
        });
        if (done) return;
        const piece = Buffer.from(value);
        collectGarbageAfter(piece.length);
        if (piece.length > 0) yield piece;
        if (rest.ms > 0) await setTimeout(rest.ms);
        rest.ms = 0;
      }
    } finally {
      await pieces.return?.();
    }
  };
  return Readable.from(bytes(), { objectMode: false, highWaterMark: 65_536 });
}
