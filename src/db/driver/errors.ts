// Classifies failures of the database by error class and SQLSTATE, never by message text. Used by src/api and
// controllers.
import { ConnectionError } from "./connection.ts";
import { BusyError } from "./semaphore.ts";

// Classes 08 (connection) and 53 (resources), 40P01 (deadlock), 57014 (statement timeout), 57P01 to 57P03 (shutdown,
// starting up), and socket errors.
const codes =
  /^(08...|53...|40P01|57014|57P0[123]|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;

const someCause = (error: unknown, fits: (cause: Error) => boolean): boolean =>
  error instanceof Error && (fits(error) || someCause(error.cause, fits));
/** Whether the error or one of its causes has a code that matches. */
export const hasCode = (error: unknown, codes: RegExp) =>
  someCause(error, (cause) => "code" in cause && codes.test(String(cause.code)));

/** The database is unreachable or overloaded; the same call may succeed later. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  hasCode(error, codes) ||
  someCause(
    error,
    (cause) =>
      cause instanceof ConnectionError ||
      cause instanceof BusyError ||
      (cause instanceof AggregateError && cause.errors.some(isDatabaseUnavailable)),
  );

/** The statement exceeded the statement timeout: it reads too much, or waits for a lock. */
export const isStatementTimeout = (error: unknown) => hasCode(error, /^57014$/);

/** Retrying does not help: the values are out of range, not valid text, or violate a constraint. Classes 22 and 23. */
export const isUnstorable = (error: unknown) => hasCode(error, /^2[23]...$/);

/** A write to the annotations of a published set; the trigger raises this SQLSTATE. */
export const isFrozen = (error: unknown) => hasCode(error, /^PL001$/);
