// One connection to Postgres. It runs one statement at a time and rejects pending ones when it breaks. Made by pool.ts.
import { Client, type ClientConfig, type Submittable } from "pg";
import {
  makeCommand,
  makeStatement,
  type Prepared,
  type RawResult,
  type ResponseHandler,
} from "./statement.ts";

/** The connection broke, could not be opened, or does not respond. `cause` is the driver's error. */
export class ConnectionError extends Error {
  override name = "ConnectionError";
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The tenant whose rows row-level security shows to the statement; without it the API's role sees none. */
  readonly tenantId?: string | undefined;
}

/** How many statements stay prepared: each costs the server memory. Further statements are prepared every time. */
const maxPrepared = 500;

export class Connection {
  readonly #client: Client;
  readonly #prepared = new Map<string, Prepared>();
  #last: Promise<unknown> = Promise.resolve();
  /** Start of the running statement in ms of performance.now(); null while idle. */
  busySince: number | null = null;
  idleSince = 0;
  isDead = false;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(config: ClientConfig): Promise<Connection> {
    const client = new Client(config);
    const connection = new Connection(client);
    client.on("error", () => {
      connection.isDead = true;
    });
    try {
      await client.connect();
    } catch (error) {
      client.end().catch(() => {});
      throw connection.#classified(error as Error);
    }
    return connection;
  }

  /** Runs one statement, after those that were submitted before it. */
  run(statement: Statement): Promise<RawResult> {
    return this.#enqueue((settle) => makeStatement((text) => this.#preparedOf(text), statement, settle));
  }

  /** Runs statements without parameters or rows. Resolves to the server's command tag of the last one. */
  command(text: string): Promise<string> {
    return this.#enqueue((settle) => makeCommand(text, settle));
  }

  /** Whether no transaction is open on the server: only then may the pool lend the connection again. */
  get isClean(): boolean {
    return !this.isDead && this.#client.getTransactionStatus() === "I";
  }

  /** Closes the socket; a running statement rejects. */
  destroy(): void {
    this.isDead = true;
    (this.#client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }

  async end(): Promise<void> {
    this.isDead = true;
    await this.#client.end();
  }

  #enqueue<T>(make: (settle: (error: Error | null, result: T) => void) => ResponseHandler): Promise<T> {
    const answer = this.busySince === null ? this.#submit(make) : this.#last.then(() => this.#submit(make));
    this.#last = answer.catch(() => {});
    return answer;
  }

  #submit<T>(make: (settle: (error: Error | null, result: T) => void) => ResponseHandler): Promise<T> {
    this.busySince = performance.now();
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null, result: T) => {
        this.busySince = null;
        if (error === null) resolve(result);
        else reject(this.#classified(error));
      };
      this.#client.query(make(settle) as unknown as Submittable);
    });
  }

  /** Keeps errors of Postgres with their SQLSTATE. Any other error means that the connection is dead. */
  #classified(error: Error): Error {
    const { severity } = error as { severity?: string };
    if (severity === "ERROR") return error;
    this.isDead = true;
    return severity === undefined
      ? new ConnectionError("the connection to the database broke", { cause: error })
      : error;
  }

  #preparedOf(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const isKept = this.#prepared.size < maxPrepared;
    const prepared = { name: isKept ? `p${this.#prepared.size}` : "", ready: false, columns: undefined };
    if (isKept) this.#prepared.set(text, prepared);
    return prepared;
  }
}
