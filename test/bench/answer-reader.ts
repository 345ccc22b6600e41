// A minimal parser of HTTP/1.1 responses: it finds their status and their end. Used by load.ts.
import type { Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly bytes: number;
  /** The error text of a response that is not a success. */
  readonly body: string;
}

/** Reads the responses of one connection, one request at a time. */
export class AnswerReader {
  readonly #socket: Socket;
  #head = "";
  #status = 0;
  /** Remaining bytes of the body, or of the present chunk with its line end. */
  #left = 0;
  #chunked = false;
  /** An incomplete chunk size line. */
  #line = "";
  #inHead = true;
  #lastChunk = false;
  #bytes = 0;
  #body = "";
  #answer: { resolve(answer: RawAnswer): void; reject(error: Error): void } | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (data: Buffer) => {
      try {
        this.#take(data);
      } catch (error) {
        this.#answer?.reject(error as Error);
      }
    });
    const cut = () => this.#answer?.reject(new Error("the server closed the connection"));
    socket.on("error", cut);
    socket.on("close", cut);
  }

  ask(request: Buffer): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
      this.#socket.write(request);
    });
  }

  #take(data: Buffer): void {
    this.#bytes += data.length;
    let at = 0;
    if (this.#inHead) {
      const before = this.#head.length;
      this.#head += data.toString("latin1");
      const end = this.#head.indexOf("\r\n\r\n");
      if (end < 0) return;
      at = end + 4 - before;
      this.#startBody(this.#head.slice(0, end));
    }
    if (this.#status >= 300) this.#body += data.toString("utf8", at);
    at = this.#chunked ? this.#takeChunks(data, at) : at + this.#skip(data.length - at);
    if (at !== data.length) throw new Error("the server sent more than its answer");
    if (this.#chunked ? this.#lastChunk && this.#left === 0 : this.#left === 0) this.#finish();
  }

  #startBody(head: string): void {
    this.#inHead = false;
    this.#status = Number(head.slice(9, 12));
    this.#chunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    this.#left = this.#chunked ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  }

  #skip(available: number): number {
    const taken = Math.min(this.#left, available);
    this.#left -= taken;
    return taken;
  }

  #takeChunks(data: Buffer, from: number): number {
    let at = from;
    while (at < data.length) {
      at += this.#skip(data.length - at);
      if (at >= data.length || this.#lastChunk) break;
      const end = data.indexOf(10, at);
      this.#line += data.toString("latin1", at, end < 0 ? data.length : end);
      at = end < 0 ? data.length : end + 1;
      if (end < 0) break;
      const size = Number.parseInt(this.#line, 16);
      this.#line = "";
      this.#lastChunk = size === 0;
      this.#left = size + 2;
    }
    return at;
  }

  #finish(): void {
    const answer = { status: this.#status, bytes: this.#bytes, body: this.#body };
    this.#head = "";
    this.#body = "";
    this.#inHead = true;
    this.#lastChunk = false;
    this.#bytes = 0;
    this.#answer?.resolve(answer);
  }
}
