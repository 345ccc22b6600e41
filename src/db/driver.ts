// The connection that slonik's pool works with, on pg. Slonik's own driver cannot put a tenant's name in front of a
// statement without asking the server two or three times more. Used by src/db/pool.ts.
import { AsyncLocalStorage } from "node:async_hooks";
import { Client, type ClientConfig, escapeLiteral, type QueryResult, types } from "pg";
import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  CheckIntegrityConstraintViolationError,
  createDriverFactory,
  type DriverCommand,
  type DriverConfiguration,
  type DriverQueryResult,
  type DriverTypeParser,
  ForeignKeyIntegrityConstraintViolationError,
  IdleTransactionTimeoutError,
  NotNullIntegrityConstraintViolationError,
  StatementTimeoutError,
  UniqueIntegrityConstraintViolationError,
} from "slonik";
import { TenantStatement } from "./tenant-statement.ts";

/**
 * For which tenant the next statement or transaction begins. Set by tenantDatabase around that call and nowhere else;
 * the statements inside a transaction need it no longer.
 */
export const tenantScope = new AsyncLocalStorage<string>();

export const makeDriver = createDriverFactory(async ({ driverConfiguration }) => {
  const config = clientConfig(driverConfiguration);
  await proveReachable(config);
  return {
    createPoolClient: async ({ clientEventEmitter }) => {
      const client = new Client(config);
      client.on("error", (error) => clientEventEmitter.emit("error", translated(error)));
      return {
        connect: async () => void (await client.connect()),
        end: () => client.end(),
        query: async (text, values) => {
          try {
            return await send(client, text, values);
          } catch (error) {
            throw translated(error);
          }
        },
        // It would hold a connection for as long as its reader takes. Large answers are read in batches instead.
        stream: () => {
          throw new Error("statements cannot be streamed");
        },
      };
    },
  };
});

async function send(client: Client, text: string, values: unknown[] = []): Promise<DriverQueryResult> {
  const tenantId = tenantScope.getStore();
  if (tenantId === undefined || client.getTransactionStatus() !== "I")
    return resultOf(await client.query(text, values));
  if (text === "START TRANSACTION") {
    // Both in one message. `local` is until the transaction ends.
    await client.query(`begin; set local app.tenant_id = ${escapeLiteral(tenantId)}`);
    return { command: "SELECT", fields: [], rowCount: null, rows: [] };
  }
  return resultOf(
    await new Promise<QueryResult>((resolve, reject) => {
      client.query(
        new TenantStatement(tenantId, text, values, (error, result) =>
          error ? reject(error) : resolve(result),
        ),
      );
    }),
  );
}

function resultOf({ command, fields, rowCount, rows }: QueryResult): DriverQueryResult {
  return {
    command: command as DriverCommand,
    fields: fields.map(({ name, dataTypeID }) => ({ name, dataTypeId: dataTypeID })),
    rowCount,
    rows,
  };
}

function clientConfig(from: DriverConfiguration): ClientConfig {
  const ms = (value: "DISABLE_TIMEOUT" | number) => (value === "DISABLE_TIMEOUT" ? undefined : value);
  const parsers = parsersByOid(from.typeParsers);
  return {
    connectionString: from.connectionUri,
    connectionTimeoutMillis: ms(from.connectionTimeout),
    statement_timeout: ms(from.statementTimeout),
    idle_in_transaction_session_timeout: ms(from.idleInTransactionSessionTimeout),
    types: {
      getTypeParser: (oid: number) => parsers.get(oid) ?? types.getTypeParser(oid),
    } as ClientConfig["types"],
  };
}

/** Of the types whose values we read otherwise than pg does, and of arrays of them. Postgres never changes these numbers. */
const oids: Readonly<Record<string, readonly [one: number, many: number]>> = {
  int8: [20, 1016],
  date: [1082, 1182],
  timestamp: [1114, 1115],
  timestamptz: [1184, 1185],
  interval: [1186, 1187],
  numeric: [1700, 1231],
};
const textArray = 1009 as Parameters<typeof types.getTypeParser>[0];

function parsersByOid(parsers: readonly DriverTypeParser[]): Map<number, (text: string) => unknown> {
  const split = types.getTypeParser(textArray) as (text: string) => (string | null)[];
  return new Map(
    parsers.flatMap(({ name, parse }) => {
      const known = oids[name];
      if (known === undefined) throw new Error(`the number of the type ${name} is not known here`);
      const many = (text: string) => split(text).map((item) => (item === null ? null : parse(item)));
      return [
        [known[0], parse],
        [known[1], many],
      ] as const;
    }),
  );
}

/** A pool is only made when its database answers. */
async function proveReachable(config: ClientConfig): Promise<void> {
  const client = new Client(config);
  // What fails rejects below.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    throw translated(error);
  } finally {
    await client.end();
  }
}

const classes: Readonly<Record<string, new (error: Error) => Error>> = {
  "23502": NotNullIntegrityConstraintViolationError,
  "23503": ForeignKeyIntegrityConstraintViolationError,
  "23505": UniqueIntegrityConstraintViolationError,
  "23514": CheckIntegrityConstraintViolationError,
  "25P03": IdleTransactionTimeoutError,
  "57014": StatementTimeoutError,
  "57P01": BackendTerminatedError,
};

/** As slonik names failures. Without a class they keep their SQLSTATE, by which slonik knows what may be tried again. */
function translated(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  // Nothing but the text tells what pg found when its socket closed.
  if (/connection terminated unexpectedly/i.test(error.message))
    return new BackendTerminatedUnexpectedlyError(error);
  if (/connection terminated/i.test(error.message)) return new BackendTerminatedError(error);
  const Class = "code" in error ? classes[String(error.code)] : undefined;
  return Class === undefined ? error : new Class(error);
}
