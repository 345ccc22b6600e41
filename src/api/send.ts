// Sends the reply of a handler: headers, ETag, 304, and the body at once or in pieces. Called by answer.ts.
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { Context } from "koa";
import { etagOf, isUnchanged } from "./conditional.ts";
import { collectGarbageAfter } from "./garbage.ts";
import type { Reply, Route } from "./route.ts";

export function send(ctx: Context, route: Route, reply: Reply): void {
  for (const [name, value] of Object.entries(reply.headers ?? {})) ctx.set(name, value);
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
  ctx.status = reply.status ?? route.answer.status;
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

const shortText = 16 * 1024;
const longPieceMs = 2;
/**
 * Encodes the text pieces as bytes: a socket that has to encode text itself is four times slower. The stream counts
 * bytes, so with a slow reader at most one piece is buffered here.
 */
function encoded(stream: AsyncIterable<string>): Readable {
  const bytes = async function* () {
    let begun = performance.now();
    for await (const text of stream) {
      const took = performance.now() - begun;
      const piece = Buffer.from(text);
      collectGarbageAfter(piece.length);
      if (piece.length > 0) yield piece;
      // A long stream leaves half of the time to other requests.
      if (took > longPieceMs) await setTimeout(took);
      begun = performance.now();
    }
  };
  return Readable.from(bytes(), { objectMode: false, highWaterMark: 65_536 });
}
