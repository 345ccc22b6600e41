// Sends what no decent client sends, byte for byte: paths that fetch would tidy, headers twice, requests that are not
// HTTP. Called by the tests of this folder.
import { request as httpRequest } from "node:http";
import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** One request with exactly these headers; rejects when the connection ends without an answer. */
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

/** Writes bytes to a connection of its own and gives all that comes back until the server closes it. */
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
    // What was received before a reset counts.
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" || error.code === "EPIPE" ? resolve(received) : reject(error),
    );
  });
}
