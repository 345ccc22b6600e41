// The dashboard over HTTP, as a browser uses it that shows its pages: raw requests, so that a test can choose every header
// and any path, and a browser with a session. Called by test/api/dashboard-*.test.ts.
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";

export interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape.
  readonly body: any;
}

/** Sends a request whose path is not normalized. */
export async function send(
  url: string,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: OutgoingHttpHeaders; body?: unknown } = {},
): Promise<Sent> {
  const { hostname, port } = new URL(url);
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const typed = text === undefined ? {} : { "Content-Type": "application/json" };
  const options = { hostname, port, method, path, headers: { ...typed, ...headers }, agent: false };
  return await new Promise((resolve, reject) => {
    const sent = request(options, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      const answer = bytes.toString();
      const isJson = /^application\/json/.test(response.headers["content-type"] ?? "");
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        bytes,
        text: answer,
        body: isJson ? JSON.parse(answer) : undefined,
      });
    });
    sent.once("error", reject);
    sent.end(text);
  });
}

/** What a browser adds to the requests of a page of the same origin. */
export const sameOrigin = { "Sec-Fetch-Site": "same-origin" };

export interface Browser {
  /** Name and value. */
  readonly cookie: string;
  send(method: string, path: string, body?: unknown, headers?: OutgoingHttpHeaders): Promise<Sent>;
}

export function browserWith(url: string, cookie: string): Browser {
  return {
    cookie,
    send: (method, path, body, headers = {}) =>
      send(url, method, path, { headers: { Cookie: cookie, ...sameOrigin, ...headers }, body }),
  };
}

export const signInWith = (url: string, body: unknown, headers: OutgoingHttpHeaders = {}) =>
  send(url, "POST", "/dashboard/session", { headers: { ...sameOrigin, ...headers }, body });

export const cookieOf = (answer: Sent): string => answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";

/** Signs in with a key. */
export async function signedIn(url: string, key: string): Promise<Browser> {
  const answer = await signInWith(url, { api_key: key });
  if (answer.status !== 201) throw new Error(`signing in was answered with ${answer.status} ${answer.text}`);
  return browserWith(url, cookieOf(answer));
}
