// One statement on the wire: prepared once for each connection, with the tenant's name in front of it in the same message.
// What pg sends and reads by itself asks the server anew what each statement means, and knows no messages in front of it.
// Used by src/db/connection.ts.
import { parserOf, toParameter } from "./values.ts";

/** The part of pg's connection that writes messages. */
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

/** What a connection knows of a statement that it has seen. */
export interface Prepared {
  readonly name: string;
  /** Whether the server has it too; not if it failed the first time. */
  ready: boolean;
  columns: readonly Column[] | undefined;
}

export interface RawResult {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number;
}

export type Settle = (error: Error | null, result: RawResult) => void;

/** What pg's client tells whoever is being answered. */
export interface Answered {
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

/** How slonik's `sql` numbers the values. */
const placeholder = "$slonik_";
const tenantText = "select set_config('app.tenant_id', $1, true)";

/** Without Sync between them both statements are one transaction, at whose end the tenant's name is gone. */
export function makeStatement(
  preparedOf: (text: string) => Prepared,
  query: {
    readonly text: string;
    readonly values: readonly unknown[];
    readonly tenantId?: string | undefined;
  },
  settle: Settle,
): Answered {
  const prepared = preparedOf(query.text);
  const tenant = query.tenantId === undefined ? undefined : preparedOf(tenantText);
  const rows: Record<string, unknown>[] = [];
  let namingTenant = tenant !== undefined;
  let rowCount = 0;
  let failure: Error | undefined;

  const enter = (wire: Wire, statement: Prepared, text: string, values: readonly unknown[]) => {
    if (!statement.ready) {
      // Left over from a first time that failed after the server had taken it; closing what is not there is no error.
      if (statement.name !== "") wire.close({ type: "S", name: statement.name });
      wire.parse({ name: statement.name, text: text.replaceAll(placeholder, "$$") });
    }
    wire.bind({ statement: statement.name, values, valueMapper: toParameter });
  };
  const taken = (statement: Prepared) => {
    if (statement.name !== "") statement.ready = true;
  };

  return {
    submit: (wire) => {
      wire.stream.cork();
      try {
        if (tenant !== undefined) {
          enter(wire, tenant, tenantText, [query.tenantId]);
          wire.execute({});
        }
        enter(wire, prepared, query.text, query.values);
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
      if (namingTenant || failure !== undefined) return;
      try {
        rows.push(toRow(prepared.columns ?? [], fields));
      } catch (error) {
        failure = error as Error;
      }
    },
    handleCommandComplete: ({ text }) => {
      if (namingTenant) {
        namingTenant = false;
        return;
      }
      rowCount = Number(/ (\d+)$/.exec(text)?.[1] ?? 0);
      prepared.columns ??= [];
    },
    handleEmptyQuery: () => {},
    handlePortalSuspended: () => {},
    handleCopyInResponse: () => {},
    handleReadyForQuery: () => {
      if (tenant !== undefined) taken(tenant);
      taken(prepared);
      settle(failure ?? null, { rows, rowCount });
    },
    handleError: (error) => {
      // A changed table may have changed what the statement gives.
      prepared.ready = false;
      prepared.columns = undefined;
      if (tenant !== undefined && namingTenant) tenant.ready = false;
      settle(error, { rows: [], rowCount: 0 });
    },
  };
}

/** Statements without parameters and rows, one or more in one message: begin, commit, and what goes with them. */
export function makeCommand(text: string, settle: (error: Error | null, tag: string) => void): Answered {
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
