// The only place that turns errors into responses. Errors that clients must not see in detail are logged. Used by
// app.ts.
import type { Middleware } from "koa";
import { isDatabaseUnavailable, isFrozen, isStatementTimeout } from "../../db/driver/errors.ts";
import { AppError, annotationSetPublished, tooSlow, unavailable } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { isStoreUnavailable } from "../../storage/errors.ts";

export function answerErrors(log: Log): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.status >= 500) {
        const line = { err: thrown, requestId: ctx.state.requestId, method: ctx.method, path: ctx.path };
        if (error.status === 503) log.warn(line, "a request failed: a backend cannot be reached");
        else log.error(line, "a request failed with an unexpected error");
      }
      ctx.state.code = error.code;
      ctx.status = error.status;
      ctx.set(error.headers);
      ctx.body = bodyOf(error);
    }
  };
}

function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isStatementTimeout(thrown)) return tooSlow(thrown);
  // First, because the database's errors are known by the codes of sockets too.
  if (isStoreUnavailable(thrown)) return unavailable("object store", thrown);
  if (isDatabaseUnavailable(thrown)) return unavailable("database", thrown);
  // A write raced with the publication of its set: it passed the checks in the code, and the database trigger refused
  // it.
  if (isFrozen(thrown)) return annotationSetPublished();
  return new AppError({ status: 500, code: "internal_error", message: "unexpected error", cause: thrown });
}

/**
 * Status 422: `detail` is the list of faults. Other statuses: a sentence, the code, and all failed preconditions if
 * any.
 */
export function bodyOf(error: AppError) {
  if (error.items !== undefined) return { detail: error.items };
  return {
    detail: error.expose ? error.message : "Internal server error",
    code: error.code,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
  };
}
