// Reads a body within its limits: JSON, or text where a route says so. Called after authentication, before validation.
import type { IncomingMessage } from "node:http";
import { bodyTooLarge, invalidRequest, unsupportedEncoding, unsupportedMediaType } from "../errors.ts";

const maxDepth = 20;
const mostDropped = 64 * 1024 * 1024;

export interface Body {
  /** Parsed, of other types than JSON the text; undefined when there is none. */
  readonly value: unknown;
  /** As it is written, if numbers or names in it need a second look (lossless.ts). */
  readonly odd?: string;
}

const none: Body = { value: undefined };

/** The body within the limits of its size and depth. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  bodyType = "application/json",
): Promise<Body> {
  const declared = request.headers["content-length"];
  if (declared === undefined && request.headers["transfer-encoding"] === undefined) return none;
  if (declared === "0") return none;
  // Node's own client announces chunks without a type when it has nothing to send.
  const untyped = declared === undefined && request.headers["content-type"] === undefined;
  if (!untyped) requireType(request, bodyType);
  if (Number(declared ?? 0) > maxBytes) throw tooLarge(request, maxBytes);
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return none;
  if (untyped) throw unsupportedMediaType(bodyType);
  if (bodyType !== "application/json") return { value: textOf(bytes) };
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw invalidRequest("the body is not JSON in UTF-8");
  }
  const seen = lookAt(value, maxDepth);
  if (seen & deep) throw invalidRequest(`the body nests more than ${maxDepth} levels`);
  return seen & odd ? { value, odd: text } : { value };
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest("the body is not text in UTF-8");
  }
}

function requireType(request: IncomingMessage, bodyType: string): void {
  if (request.headers["content-encoding"] !== undefined) throw unsupportedEncoding();
  const [type = "", ...parameters] = (request.headers["content-type"] ?? "").toLowerCase().split(";");
  if (type.trim() !== bodyType) throw unsupportedMediaType(bodyType);
  const charsets = parameters.map((parameter) => parameter.trim()).filter((p) => p.startsWith("charset="));
  if (!charsets.every((charset) => /^charset=(utf-?8|"utf-?8")$/.test(charset)))
    throw unsupportedMediaType(bodyType);
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    if (request.readableAborted || request.destroyed) throw invalidRequest("the body ended early");
    throw cause;
  }
  if (size > maxBytes) throw tooLarge(request, maxBytes);
  return Buffer.concat(chunks);
}

/**
 * Most clients read only when they have sent everything: cut off before that, they see a broken connection and not the
 * refusal. So the rest is taken and dropped, up to a size that nobody sends by mistake.
 */
function tooLarge(request: IncomingMessage, maxBytes: number): Error {
  let left = mostDropped;
  const drop = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.socket.destroy();
  };
  request.on("data", drop).resume();
  return bodyTooLarge(maxBytes);
}

const deep = 1;
const odd = 2;

/** Whether a value nests too deep, and whether it has what JavaScript may keep otherwise than it was sent. */
function lookAt(value: unknown, levels: number): number {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER ? odd : 0;
  if (typeof value !== "object" || value === null) return 0;
  if (levels === 0) return deep;
  let seen = 0;
  if (Array.isArray(value)) {
    for (const item of value) seen |= lookAt(item, levels - 1);
    return seen;
  }
  for (const name in value) {
    if (name === "__proto__") seen |= odd;
    seen |= lookAt((value as Record<string, unknown>)[name], levels - 1);
  }
  return seen;
}
