// Classifies failures of the database by error class and SQLSTATE, never by message text. Used by src/api and
// controllers.
import { ConnectionError } from "./connection.ts";
import { BusyError } from "./semaphore.ts";

// Classes 08 (connection) and 53 (resources), 40P01 (deadlock), 57014 (statement timeout), 57P01 to 57P03 (shutdown,
// starting up), and socket errors.
const codes =
  /^(08...|53...|40P01|57014|57P0[123]|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;

/** The database is unreachable or overloaded; the same call may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ConnectionError || cause instanceof BusyError) return true;
    if ("code" in cause && codes.test(String(cause.code))) return true;
    if (cause instanceof AggregateError && cause.errors.some(isDatabaseUnavailable)) return true;
  }
  return false;
}

/** The statement exceeded the statement timeout: it reads too much, or waits for a lock. */
export function isStatementTimeout(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && cause.code === "57014") return true;
  }
  return false;
}

/** Retrying does not help: the values are out of range, not valid text, or violate a constraint. Classes 22 and 23. */
export function isUnstorable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && /^2[23]...$/.test(String(cause.code))) return true;
  }
  return false;
}

/** A write to the annotations of a published set; the trigger raises this SQLSTATE. */
export function isFrozen(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && cause.code === "PL001") return true;
  }
  return false;
}
