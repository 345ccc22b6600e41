// Fetches the bytes of a file from a URL that a client chose, as a stream with limits of size and time. Every redirect is
// checked like the URL itself. A failure says what the file's owner may know, without the URL. Called by fetches.ts.
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type RequestDeps, type RequestFailure, reasonOf, request } from "../webhooks/request.ts";

/** The file could not be fetched. The message completes "The file could not be fetched: ...". */
export class FetchError extends Error {
  override name = "FetchError";
  /** Whether another attempt may succeed. */
  readonly isTemporary: boolean;
  constructor(message: string, isTemporary: boolean) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

export interface FetchBounds {
  readonly maxBytes: number;
  /** For the owner, if the file has more: the limit of one file, or the quota. */
  readonly tooLarge: string;
  readonly signal: AbortSignal;
  /** Is awaited before more bytes are read. */
  readonly pace: (bytes: number) => Promise<void>;
}

const maxRedirects = 3;
const temporary = new Set([408, 425, 429, 500, 502, 503, 504]);
const failures: Record<RequestFailure, string> = {
  target: "it redirects to a URL that is not allowed",
  address: "the host of the URL has no public address",
  tls: "the host's certificate is not valid",
  protocol: "the host does not speak HTTP",
  connection: "the connection to the host failed",
};

/**
 * Returns the headers and the bytes, and after the last one their number and digest. Reading rejects with FetchError. The
 * connection stays open until all is read or the signal is aborted.
 */
export async function openUrl(url: string, deps: RequestDeps, bounds: FetchBounds) {
  const answer = await follow(url, deps, bounds.signal);
  const facts = { sizeBytes: 0, sha256: "" };
  const hash = createHash("sha256");
  const tooLarge = new FetchError(bounds.tooLarge, false);
  async function* read(): AsyncIterable<Buffer> {
    try {
      // The length that the host announces may be wrong, so the bytes are counted too.
      if (Number(answer.headers["content-length"] ?? 0) > bounds.maxBytes) throw tooLarge;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        facts.sizeBytes += chunk.length;
        if (facts.sizeBytes > bounds.maxBytes) throw tooLarge;
        hash.update(chunk);
        await bounds.pace(chunk.length);
        yield chunk;
      }
    } catch (error) {
      throw error instanceof FetchError ? error : unreachable(error, bounds.signal);
    } finally {
      answer.destroy();
    }
    if (facts.sizeBytes === 0) throw new FetchError("the response has no bytes", false);
    facts.sha256 = hash.digest("hex");
  }
  return { headers: answer.headers, bytes: read(), facts };
}

async function follow(first: string, deps: RequestDeps, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = { "User-Agent": "Plosive-Fetch/1", Accept: "audio/*, */*", "Accept-Encoding": "identity" };
  for (let url = first, redirects = 0; ; redirects++) {
    const answer = await request(url, { method: "GET", headers }, deps, signal).catch((error: unknown) => {
      throw unreachable(error, signal);
    });
    const { statusCode: status = 0, headers: has } = answer;
    if (status === 200 && (has["content-encoding"] ?? "identity") === "identity") return answer;
    answer.destroy();
    if (status === 200) throw new FetchError("the response is compressed", false);
    if (status < 300 || status > 399 || status === 304)
      throw new FetchError(`the host answered ${status}`, temporary.has(status));
    const { location } = has;
    if (redirects === maxRedirects || location === undefined || !URL.canParse(location, url))
      throw new FetchError("the host redirects too often, or not to a URL", false);
    const next = new URL(location, url);
    next.hash = "";
    url = next.href;
  }
}

function unreachable(error: unknown, { reason }: AbortSignal): FetchError {
  if (reason?.name === "TimeoutError") return new FetchError("the host took too long", true);
  const failure = reasonOf(error);
  return new FetchError(failures[failure], failure !== "target");
}
