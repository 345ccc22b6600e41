// Kinds of failure of the database, told apart by class and SQLSTATE, never by message text.
import { ConnectionError } from "./connection.ts";
import { BusyError } from "./limit.ts";

// Classes 08 (connection), 53 (resources), 40P01 (two transactions waited for each other, and this one gave way), 57014
// (the statement timeout), 57P (shutdown, not yet started), and what the sockets say.
const codes =
  /^(08...|53...|40P01|57014|57P0[123]|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;

/** The database is away or overloaded; the same call may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ConnectionError || cause instanceof BusyError) return true;
    if ("code" in cause && codes.test(String(cause.code))) return true;
    if (cause instanceof AggregateError && cause.errors.some(isDatabaseUnavailable)) return true;
  }
  return false;
}

/** The values cannot be stored, now or ever: out of range, not text, the same key twice. Classes 22 and 23. */
export function isUnstorable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && /^2[23]...$/.test(String(cause.code))) return true;
  }
  return false;
}

/** A write to the annotations of a published set: the trigger's own SQLSTATE. */
export function isFrozen(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && cause.code === "PL001") return true;
  }
  return false;
}
