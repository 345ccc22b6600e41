// The HTTP server around the app: limits for slow and malformed requests, and a graceful shutdown. Called by
// src/main.ts and by the tests.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { requestIdOf } from "./middleware/request-id.ts";
import { readInPieces } from "./pieces.ts";

export interface HttpServer {
  readonly port: number;
  /** Accepts no new connections, waits for running requests, and closes the remaining connections after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

interface Unfinished {
  readonly response: ServerResponse;
  readonly run: () => void;
}

interface Connection {
  /** Its unfinished requests. The first one runs. */
  readonly line: Unfinished[];
  /** To be called when one has ended: more of the connection may be read then. */
  readonly readOn: () => void;
}

/** Each takes about 10 KB. Node closes further ones at once. */
const maxConnections = 16_384;
/** Requests of a connection that wait for the responses to its earlier ones. No more of the connection is read then. */
const maxWaiting = 8;
/** Each takes about 4 KB. A connection that would add more is closed. */
const maxWaitingInAll = 4_096;
/** How long a client may read why its request is no HTTP or came too late, before its connection is closed. */
const lingerMs = 1_000;
/** Node looks for requests that arrive too slowly at this interval. */
const checkMs = 5_000;

export interface Times {
  /** Of a request, with its body. */
  readonly requestMs?: number;
  /**
   * A client that takes nothing of its response for this long is cut off. Node notices only that the kernel takes more, which
   * has a megabyte of the response or more, so this must be long for slow connections.
   */
  readonly stallMs?: number;
}

export async function listen(
  listener: RequestListener,
  port: number,
  host?: string,
  { requestMs = 60_000, stallMs = 300_000 }: Times = {},
): Promise<HttpServer> {
  const connected = new Map<Socket, Connection>();
  let waiting = 0;
  let isStopping = false;

  /** Runs the requests of a connection one after another. Node would run those of one piece at once. */
  const runInTurn = (request: IncomingMessage, response: ServerResponse, handle: () => void) => {
    const { socket } = request;
    const connection = connected.get(socket);
    // Node goes on with the piece after the end of the connection.
    if (connection === undefined || !socket.writable) return;
    const { line, readOn } = connection;
    // One may arrive before this process learns that the response before it was sent.
    if (line.length > 1 && waiting >= maxWaitingInAll) return void socket.destroy();
    const run = () => {
      response.once("close", () => {
        line.shift();
        const next = line[0];
        if (next !== undefined) {
          waiting -= 1;
          if (socket.writable) next.run();
        }
        readOn();
      });
      handle();
    };
    line.push({ response, run });
    if (line.length > 1) waiting += 1;
    else run();
  };
  const server = createServer(
    {
      requestTimeout: requestMs,
      headersTimeout: Math.min(10_000, requestMs),
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16_384,
      // Checked below instead, because Node's own response has no body.
      requireHostHeader: false,
    },
    (request, response) =>
      runInTurn(request, response, () => {
        if (isStopping) response.setHeader("Connection", "close");
        const { host, "transfer-encoding": coding = "" } = request.headers;
        const old = request.httpVersionMajor === 1 && request.httpVersionMinor === 0;
        if (host === undefined && !old)
          refuse(response, 400, "Invalid request format: the header Host is missing");
        // With several transfer codings, Node decodes only chunked and passes the still encoded rest on as the body.
        else if (coding.includes(","))
          refuse(response, 400, "Invalid request format: the only transfer coding is chunked");
        else listener(request, response);
      }),
  );
  server.on("connection", (socket) => {
    const line: Unfinished[] = [];
    // A request that was refused below does not run when the rest of it arrives.
    const readOn = readInPieces(socket, () => line.length > maxWaiting || socket.writableEnded);
    connected.set(socket, { line, readOn });
    socket.once("close", () => {
      waiting -= (line.splice(0).length || 1) - 1;
      connected.delete(socket);
    });
  });
  server.maxConnections = maxConnections;
  // Node emits it when nothing was received and nothing was taken for this long. A handler may still be working then.
  server.setTimeout(stallMs, (socket) => {
    const isWorking = socket.writableLength === 0 && connected.get(socket)?.line.length;
    if (!isWorking) socket.destroy();
  });
  server.on("checkExpectation", (request, response) =>
    runInTurn(request, response, () =>
      refuse(response, 417, "The only supported expectation is 100-continue"),
    ),
  );
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return;
    const running = connected.get(socket as Socket)?.line[0]?.response;
    // The text would become a part of the response that is being sent.
    if (running?.headersSent) return void socket.destroy();
    const [status, text] =
      error.code === "HPE_HEADER_OVERFLOW"
        ? ["431 Request Header Fields Too Large", "The request headers are too large"]
        : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
          ? ["408 Request Timeout", "The request took too long to arrive"]
          : ["400 Bad Request", "Invalid request format: the request is not HTTP"];
    const { body, headers } = refusal(text, running?.req);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n${body}`);
    // A client need not end its half of the connection.
    setTimeout(() => socket.destroy(), lingerMs).unref();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const stop = async (graceMs: number): Promise<void> => {
    isStopping = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Keep-alive connections would stay open until the grace time is over. So each is closed after its running
    // response, with the header Connection: close if the headers have not been sent yet.
    for (const { response } of [...connected.values()].flatMap(({ line }) => line)) {
      if (!response.headersSent) response.setHeader("Connection", "close");
      else response.once("close", () => setImmediate(() => server.closeIdleConnections()));
    }
    server.closeIdleConnections();
    // Connections without any request so far: Node does not count them as idle.
    for (const socket of connected.keys()) if (socket.bytesRead === 0) socket.destroy();
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(cut);
  };
  return { port: (server.address() as AddressInfo).port, stop };
}

/** Responds to a request that does not reach the app. */
function refuse(response: ServerResponse, status: number, text: string): void {
  const { body, headers } = refusal(text, response.req);
  response.writeHead(status, headers).end(body);
}

/** The text is ASCII. The request is absent if its headers cannot be read. */
function refusal(text: string, request?: IncomingMessage) {
  const body = JSON.stringify({ detail: text, code: "invalid_request" });
  const headers = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": body.length,
    "Cache-Control": "no-store",
    "X-Request-Id": requestIdOf(request?.headers["x-request-id"]),
    Connection: "close",
  };
  return { body, headers };
}
