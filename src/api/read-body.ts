// Reads a body within its limits: JSON, or text where a route says so. Called after authentication, before validation.
import type { IncomingMessage } from "node:http";
import { bodyTooLarge, invalidRequest, unsupportedMediaType } from "../errors.ts";

const maxDepth = 20;

/** The parsed body, of other types than JSON its text; undefined when there is none. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  bodyType = "application/json",
): Promise<unknown> {
  const declared = request.headers["content-length"];
  if (declared === undefined && request.headers["transfer-encoding"] === undefined) return undefined;
  if (declared === "0") return undefined;
  // Node's own client announces chunks without a type when it has nothing to send.
  const untyped = declared === undefined && request.headers["content-type"] === undefined;
  if (!untyped) requireType(request, bodyType);
  if (Number(declared ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return undefined;
  if (untyped) throw unsupportedMediaType(bodyType);
  if (bodyType !== "application/json") return textOf(bytes);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalidRequest("the body is not JSON in UTF-8");
  }
  if (isDeeper(value, maxDepth)) throw invalidRequest(`the body nests more than ${maxDepth} levels`);
  return value;
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest("the body is not text in UTF-8");
  }
}

function requireType(request: IncomingMessage, bodyType: string): void {
  if (request.headers["content-encoding"] !== undefined) throw unsupportedMediaType(bodyType);
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
    for await (const chunk of request) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    if (request.readableAborted || request.destroyed) throw invalidRequest("the body ended early");
    throw cause;
  }
  if (size > maxBytes) throw bodyTooLarge(maxBytes);
  return Buffer.concat(chunks);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
