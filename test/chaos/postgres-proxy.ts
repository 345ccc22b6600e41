// A proxy between one operator and the real Postgres. It reports each commit of a job's data before it forwards the
// COMMIT, and again when the commit is done and before it forwards the answer. Called by replica.ts.
import { connect, createServer, type Socket } from "node:net";
import type { Moment } from "./strikes.ts";

export interface PostgresProxy {
  readonly url: string;
  stop(): Promise<void>;
}

const write = /\b(insert\s+into|update|delete\s+from)\s+"?(\w+)"?/i;
/** Tables that belong to no job. */
const foreign = /^(idempotency_keys|request_keys|audit_log|leftovers)$/i;

export async function startPostgresProxy(options: {
  target: string;
  due: (label: string, moment: Moment) => boolean;
}): Promise<PostgresProxy> {
  const { target, due } = options;
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    const session = new Session();
    const fromClient = splitter(true);
    const fromServer = splitter(false);
    client.on("data", (data) => {
      for (const message of fromClient(data)) {
        const label = session.sent(message);
        if (label !== undefined && due(label, "before")) return cut();
        upstream.write(message);
      }
    });
    upstream.on("data", (data) => {
      for (const message of fromServer(data)) {
        const label = session.received(message);
        if (label !== undefined && due(label, "after")) return cut();
        client.write(message);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = new URL(target);
  url.host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    url: url.href,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

/** Tracks what one connection is about to commit. */
class Session {
  readonly #statements = new Map<string, string>();
  #inTransaction = false;
  /** Tables that the open transaction has written to. */
  #written: string | undefined;
  #text = "";
  #committing: string | undefined;

  /** The label of a commit if this message requests one. */
  sent(message: Buffer): string | undefined {
    const type = String.fromCharCode(message[0] ?? 0);
    if (type === "Q") this.#text = cString(message, 5);
    if (type === "P") {
      const name = cString(message, 5);
      this.#text = cString(message, 6 + name.length);
      this.#statements.set(name, this.#text);
    }
    if (type === "B") {
      const portal = cString(message, 5);
      this.#text = this.#statements.get(cString(message, 6 + portal.length)) ?? this.#text;
    }
    if (type !== "Q" && type !== "S") return undefined;
    const table = write.exec(this.#text.replace(/\bfor\s+(no key\s+)?update\b/gi, ""))?.[2];
    const label = table === undefined || foreign.test(table) ? undefined : table;
    if (!this.#inTransaction) this.#committing = label === undefined ? undefined : `write of ${label}`;
    else if (/^\s*commit\b/i.test(this.#text))
      this.#committing = this.#written && `commit of ${this.#written}`;
    else this.#written ??= label;
    return this.#committing;
  }

  /** The label of a commit if this message reports that it is done. */
  received(message: Buffer): string | undefined {
    if (message[0] !== "Z".charCodeAt(0)) return undefined;
    const done = this.#committing;
    this.#committing = undefined;
    this.#inTransaction = message[5] === "T".charCodeAt(0);
    if (!this.#inTransaction) this.#written = undefined;
    return done;
  }
}

function cString(message: Buffer, from: number): string {
  return message.toString("utf8", from, message.indexOf(0, from));
}

/** Splits a stream into complete messages: a letter and a length. The first message of a client has no letter. */
function splitter(isClient: boolean): (data: Buffer) => Buffer[] {
  let rest = Buffer.alloc(0);
  let isFirst = isClient;
  return (data) => {
    rest = Buffer.concat([rest, data]);
    const messages: Buffer[] = [];
    for (;;) {
      const head = isFirst ? 0 : 1;
      if (rest.length < head + 4) return messages;
      const length = head + rest.readUInt32BE(head);
      if (rest.length < length) return messages;
      messages.push(rest.subarray(0, length));
      rest = rest.subarray(length);
      isFirst = false;
    }
  };
}
