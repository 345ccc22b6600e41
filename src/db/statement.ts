// The wire protocol of one statement: prepared once per connection, with the tenant set in the same message. pg's own
// queries request the description of each statement again, and cannot send a message before it. Used by connection.ts.
import { parserOf, toParameter } from "./values.ts";

/** The methods of pg's connection that write messages. */
export interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  query(text: string): void;
  parse(message: { name: string; text: string }): void;
  bind(message: {
    statement: string;
    values: readonly unknown[];
    valueMapper: (value: unknown) => unknown;
  }): void;
  describe(message: { type: "P"; name: string }): void;
  execute(message: Record<string, never>): void;
  close(message: { type: "S"; name: string }): void;
  sync(): void;
}

interface Column {
  readonly name: string;
  readonly parse: ((text: string) => unknown) | undefined;
}

/** The cached state of a statement on one connection. */
export interface Prepared {
  readonly name: string;
  /** Whether the server has prepared it; false if its first execution failed. */
  ready: boolean;
  columns: readonly Column[] | undefined;
}

export interface RawResult {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number;
}

export type Settle = (error: Error | null, result: RawResult) => void;

/** The callbacks of pg's client for a submitted query. */
export interface ResponseHandler {
  submit(wire: Wire): void;
  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void;
  handleDataRow(message: { fields: (string | null)[] }): void;
  handleCommandComplete(message: { text: string }): void;
  handleEmptyQuery(): void;
  handlePortalSuspended(): void;
  handleCopyInResponse(): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

/** The prefix of slonik's numbered placeholders. */
const placeholder = "$slonik_";
const tenantText = "select set_config('app.tenant_id', $1, true)";

/**
 * Makes a query that sets the tenant and runs one statement. Without a Sync message between them both are one
 * transaction, and the tenant setting ends with it.
 */
export function makeStatement(
  preparedOf: (text: string) => Prepared,
  query: {
    readonly text: string;
    readonly values: readonly unknown[];
    readonly tenantId?: string | undefined;
  },
  settle: Settle,
): ResponseHandler {
  const prepared = preparedOf(query.text);
  const tenant = query.tenantId === undefined ? undefined : preparedOf(tenantText);
  const rows: Record<string, unknown>[] = [];
  let isSettingTenant = tenant !== undefined;
  let rowCount = 0;
  let failure: Error | undefined;

  const prepareAndBind = (wire: Wire, statement: Prepared, text: string, values: readonly unknown[]) => {
    if (!statement.ready) {
      // An earlier attempt may have failed after the server prepared it. Closing an unknown statement is not an error.
      if (statement.name !== "") wire.close({ type: "S", name: statement.name });
      wire.parse({ name: statement.name, text: text.replaceAll(placeholder, "$$") });
    }
    wire.bind({ statement: statement.name, values, valueMapper: toParameter });
  };
  const markReady = (statement: Prepared) => {
    if (statement.name !== "") statement.ready = true;
  };

  return {
    submit: (wire) => {
      wire.stream.cork();
      try {
        if (tenant !== undefined) {
          prepareAndBind(wire, tenant, tenantText, [query.tenantId]);
          wire.execute({});
        }
        prepareAndBind(wire, prepared, query.text, query.values);
        if (prepared.columns === undefined) wire.describe({ type: "P", name: "" });
        wire.execute({});
        wire.sync();
      } finally {
        wire.stream.uncork();
      }
    },
    handleRowDescription: ({ fields }) => {
      prepared.columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
    },
    handleDataRow: ({ fields }) => {
      if (isSettingTenant || failure !== undefined) return;
      try {
        rows.push(toRow(prepared.columns ?? [], fields));
      } catch (error) {
        failure = error as Error;
      }
    },
    handleCommandComplete: ({ text }) => {
      if (isSettingTenant) {
        isSettingTenant = false;
        return;
      }
      rowCount = Number(/ (\d+)$/.exec(text)?.[1] ?? 0);
      prepared.columns ??= [];
    },
    handleEmptyQuery: () => {},
    handlePortalSuspended: () => {},
    handleCopyInResponse: () => {},
    handleReadyForQuery: () => {
      if (tenant !== undefined) markReady(tenant);
      markReady(prepared);
      settle(failure ?? null, { rows, rowCount });
    },
    handleError: (error) => {
      // The table may have changed, and with it the columns of the result: prepare and describe again.
      prepared.ready = false;
      prepared.columns = undefined;
      if (tenant !== undefined && isSettingTenant) tenant.ready = false;
      settle(error, { rows: [], rowCount: 0 });
    },
  };
}

/** Makes a query of one or more statements without parameters or rows, in one message: begin, commit, set local, ... */
export function makeCommand(
  text: string,
  settle: (error: Error | null, tag: string) => void,
): ResponseHandler {
  let tag = "";
  return {
    submit: (wire) => wire.query(text),
    handleRowDescription: () => {},
    handleDataRow: () => {},
    handleCommandComplete: (message) => {
      tag = message.text;
    },
    handleEmptyQuery: () => {},
    handlePortalSuspended: () => {},
    handleCopyInResponse: () => {},
    handleReadyForQuery: () => settle(null, tag),
    handleError: (error) => settle(error, ""),
  };
}

function toRow(columns: readonly Column[], fields: readonly (string | null)[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < columns.length; i++) {
    const { name, parse } = columns[i] as Column;
    const field = fields[i] as string | null;
    row[name] = field === null || parse === undefined ? field : parse(field);
  }
  return row;
}
