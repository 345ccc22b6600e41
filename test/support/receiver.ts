// A webhook receiver on a loopback port, for tests: it records requests and answers as the test configures it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly at: number;
}

export interface Receiver {
  readonly port: number;
  /** http://127.0.0.1:port, or https. */
  readonly origin: string;
  readonly received: Received[];
  /** Number of connections that it accepted. */
  connections(): number;
  stop(): Promise<void>;
}

export type Answering = (request: Received, response: ServerResponse, raw: IncomingMessage) => void;

export const answering =
  (status: number, headers: Record<string, string> = {}): Answering =>
  (_, response) =>
    response.writeHead(status, headers).end("thank you");

export interface Certificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export async function startReceiver(
  answer: Answering = answering(204),
  options: { tls?: Certificate; host?: string; port?: number } = {},
): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const headers = request.headers as Record<string, string>;
      const message = { path: request.url ?? "", headers, body, at: Date.now() };
      received.push(message);
      answer(message, response, request);
    });
  };
  const { tls, host = "127.0.0.1", port = 0 } = options;
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const own = (server.address() as AddressInfo).port;
  return {
    port: own,
    origin: `${tls === undefined ? "http" : "https"}://${host}:${own}`,
    received,
    connections: () => connections,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A certificate for names or addresses, from an authority that no other program trusts. */
export function makeCertificate(...names: string[]): Certificate {
  const dir = mkdtempSync(join(tmpdir(), "plosive-receiver-"));
  const at = (file: string) => join(dir, file);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: dir, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  try {
    openssl(
      "req",
      "-x509",
      ...newKey,
      "-days",
      "2",
      "-keyout",
      "ca.key",
      "-out",
      "ca.crt",
      "-subj",
      "/CN=ca",
    );
    openssl("req", ...newKey, "-keyout", "own.key", "-out", "own.csr", "-subj", `/CN=${names[0]}`);
    const alternatives = names.map((name) => `${isIP(name) === 0 ? "DNS" : "IP"}:${name}`);
    writeFileSync(at("names"), `subjectAltName=${alternatives.join(",")}\n`);
    openssl(
      ...["x509", "-req", "-in", "own.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"],
      ...["-days", "2", "-out", "own.crt", "-extfile", "names"],
    );
    const read = (file: string) => readFileSync(at(file), "utf8");
    return { ca: read("ca.crt"), cert: read("own.crt"), key: read("own.key") };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
