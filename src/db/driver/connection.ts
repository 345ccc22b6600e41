// Runs statements on one of pg's connections, which work in pg's pipeline mode: a statement of a tenant, the begin
// before it and the commit after it are one round trip. Used by queries.ts and pool.ts.
import type { Socket } from "node:net";
import { DatabaseError, type PoolClient } from "pg";
import { toParameter } from "./values.ts";

export type Connection = PoolClient;

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

export interface Rows {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number;
}

/** How many statements stay prepared: each costs the server memory. Further statements are prepared every time. */
const maxPrepared = 500;

/** The prefix of slonik's numbered placeholders. */
const placeholder = "$slonik_";
/** SQLSTATE feature_not_supported: among others, the columns of a prepared statement have changed. */
const changedColumns = "0A000";

const prepared = new Map<string, { readonly name: string; readonly text: string }>();
const unusable = new WeakSet<Connection>();

/** Runs one statement. With a tenant it runs in a transaction of its own, and the tenant's id ends with it. */
export async function run(connection: Connection, statement: Statement): Promise<Rows> {
  const query = { ...named(statement.text), values: statement.values.map(toParameter) };
  sendTogether(connection);
  if (statement.tenantId === undefined) return rowsOf(await classified(connection, connection.query(query)));
  const answers = await Promise.allSettled([
    connection.query(begin(statement.tenantId)),
    connection.query(query),
    connection.query("commit"),
  ]);
  for (const answer of answers)
    if (answer.status === "rejected") await classified(connection, Promise.reject(answer.reason));
  return rowsOf((answers[1] as PromiseFulfilledResult<Rows>).value);
}

/** Runs statements without parameters or rows. Resolves to the server's command tag, for example ROLLBACK. */
export async function command(connection: Connection, text: string): Promise<string> {
  return (await classified(connection, connection.query(text))).command;
}

/** Statements that callers send on the connection before the next turn of the event loop leave in one packet. */
function sendTogether(connection: Connection): void {
  const socket = socketOf(connection);
  socket.cork();
  process.nextTick(() => socket.uncork());
}

/** One message with both statements. `local` limits the setting to the transaction. */
export const begin = (tenantId: string | undefined) =>
  tenantId === undefined ? "begin" : `begin; set local app.tenant_id = '${tenantId}'`;

/** Makes the pool close the connection instead of lending it again. */
export function discard(connection: Connection): void {
  unusable.add(connection);
}

/** Whether the pool may lend the connection again: it works, and no transaction is open on the server. */
export const isReusable = (connection: Connection): boolean =>
  !unusable.has(connection) && connection.getTransactionStatus() === "I";

/** Closes the socket; running statements reject. */
export function destroy(connection: Connection): void {
  socketOf(connection).destroy();
}

/** Calls `listener` whenever something arrives from the server. */
export function onAnswer(connection: Connection, listener: () => void): void {
  socketOf(connection).on("data", listener);
}

const socketOf = (connection: Connection) =>
  (connection as unknown as { connection: { stream: Socket } }).connection.stream;

/** Keeps errors of Postgres with their SQLSTATE. Any other error means that the connection is broken. */
export async function classified<T>(connection: Connection | undefined, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const ofPostgres = error instanceof DatabaseError;
    const isUsable = ofPostgres && error.severity === "ERROR" && error.code !== changedColumns;
    if (!isUsable && connection !== undefined) discard(connection);
    if (ofPostgres) throw error;
    throw new ConnectionError("the connection to the database broke", { cause: error });
  }
}

const rowsOf = ({ rows, rowCount }: { rows: Rows["rows"]; rowCount: number | null }): Rows => ({
  rows,
  rowCount: rowCount ?? 0,
});

function named(text: string): { readonly name?: string; readonly text: string } {
  const known = prepared.get(text);
  if (known !== undefined) return known;
  const query = { text: text.replaceAll(placeholder, "$$") };
  if (prepared.size >= maxPrepared) return query;
  const kept = { name: `p${prepared.size}`, ...query };
  prepared.set(text, kept);
  return kept;
}
