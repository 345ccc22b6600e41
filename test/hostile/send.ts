// Sends requests byte for byte that ordinary clients never send: paths that fetch would normalize, duplicate headers,
// and bytes that are not HTTP. Called by the tests of this folder.
import { request as httpRequest } from "node:http";
import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends one request with exactly these headers; rejects when the connection ends without an answer. */
export function send(
  url: string,
  method: string,
  path: string,
  headers: readonly (readonly [string, string])[],
  body?: string | Buffer,
): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url);
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const all = [["Host", host], ...headers, ...(bytes ? [["Content-Length", String(bytes.length)]] : [])];
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, method, path, headers: all.flat() as unknown as Record<string, string> },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    request.on("error", reject);
    request.end(bytes);
  });
}

/** Writes bytes to a new connection and returns everything that the server sends until it closes it. */
export function sendBytes(
  url: string,
  bytes: string | Buffer,
  options: { end?: boolean } = {},
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => {
      if (options.end) socket.end(bytes);
      else socket.write(bytes);
    });
    socket.setTimeout(15_000, () => socket.destroy(new Error(`no end of the answer; so far: ${received}`)));
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(received));
    // Bytes received before a reset count.
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" || error.code === "EPIPE" ? resolve(received) : reject(error),
    );
  });
}
