// One connection to Postgres: one statement at a time, and an end that nobody waits for in vain. Made by src/db/pool.ts.
import { Client, type ClientConfig, type Submittable } from "pg";
import { type Answered, makeCommand, makeStatement, type Prepared, type RawResult } from "./statement.ts";

/** The connection broke, could not be made, or does not answer any more. The cause is what the driver says. */
export class ConnectionError extends Error {
  override name = "ConnectionError";
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Whose rows the statement sees (row-level security), on connections that see nothing otherwise. */
  readonly tenantId?: string | undefined;
}

/** Statements that are kept prepared; each costs the server some memory. What comes after them is prepared every time. */
const maxPrepared = 500;

export class Connection {
  readonly #client: Client;
  readonly #prepared = new Map<string, Prepared>();
  #turn: Promise<unknown> = Promise.resolve();
  /** When the present statement began, in ms of performance.now(); null while there is none. */
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
      throw connection.#named(error as Error);
    }
    return connection;
  }

  run(statement: Statement): Promise<RawResult> {
    return this.#inTurn((settle) => makeStatement((text) => this.#preparedOf(text), statement, settle));
  }

  /** Statements without parameters and rows. Resolves to what the server says that the last one did. */
  command(text: string): Promise<string> {
    return this.#inTurn((settle) => makeCommand(text, settle));
  }

  /** Whether the server sees no open transaction; only then may somebody else have the connection. */
  get isClean(): boolean {
    return !this.isDead && this.#client.getTransactionStatus() === "I";
  }

  /** Cuts it; a statement that runs rejects. */
  destroy(): void {
    this.isDead = true;
    (this.#client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }

  async end(): Promise<void> {
    this.isDead = true;
    await this.#client.end();
  }

  #inTurn<T>(make: (settle: (error: Error | null, result: T) => void) => Answered): Promise<T> {
    const answer = this.busySince === null ? this.#submit(make) : this.#turn.then(() => this.#submit(make));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  #submit<T>(make: (settle: (error: Error | null, result: T) => void) => Answered): Promise<T> {
    this.busySince = performance.now();
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null, result: T) => {
        this.busySince = null;
        if (error === null) resolve(result);
        else reject(this.#named(error));
      };
      this.#client.query(make(settle) as unknown as Submittable);
    });
  }

  /** What Postgres says keeps its SQLSTATE; everything else is the connection's fault and its end. */
  #named(error: Error): Error {
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
