// One statement as one tenant, in one round trip: between two Syncs the server takes all statements as one transaction,
// so the tenant's name that goes ahead holds for the statement behind it and is gone with it. Used by src/db/driver.ts.
import { type Connection, Query, type QueryResult } from "pg";

/** The part of pg's Query that its client calls, and that its types leave out. */
interface Submitted {
  prepare(connection: Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
}
type Callback = (error: Error | undefined, result: QueryResult) => void;
const Base = Query as unknown as new (
  config: object,
  values: unknown[],
  callback: Callback,
) => Query & Submitted;

export class TenantStatement extends Base {
  readonly #tenantId: string;
  /** Until the tenant is named, what the server answers is about that. */
  #isNamed = false;

  constructor(tenantId: string, text: string, values: unknown[], callback: Callback) {
    // "extended": also a statement without values is sent in parts, behind which others fit.
    super({ text, queryMode: "extended" }, values, callback);
    this.#tenantId = tenantId;
  }

  override prepare(connection: Connection): void {
    connection.parse({ name: "", text: "select set_config('app.tenant_id', $1, true)", types: [] }, true);
    connection.bind({ values: [this.#tenantId] }, true);
    connection.execute({}, true);
    super.prepare(connection);
  }

  override handleDataRow(message: unknown): void {
    if (this.#isNamed) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#isNamed) super.handleCommandComplete(message, connection);
    this.#isNamed = true;
  }
}
