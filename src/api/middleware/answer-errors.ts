// The one place that makes an error into an answer. What is not meant for the client goes to the log instead.
import type { Context, Middleware } from "koa";
import { isDatabaseUnavailable, isFrozen } from "../../db/errors.ts";
import { AppError, annotationSetPublished, unavailable } from "../../errors.ts";
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
        if (error.status === 503) log.warn(line, "a backend cannot be reached");
        else log.error(line, "a request failed");
      }
      ctx.state.code = error.code;
      render(ctx, error);
    }
  };
}

function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isDatabaseUnavailable(thrown)) return unavailable("database", thrown);
  if (isStoreUnavailable(thrown)) return unavailable("object store", thrown);
  // The trigger below the code caught a write that slipped between two checks.
  if (isFrozen(thrown)) return annotationSetPublished();
  return new AppError({ status: 500, code: "internal_error", message: "unexpected error", cause: thrown });
}

/** 422: `detail` is the list of faults. Otherwise: a sentence, its code, and all failed preconditions if several. */
function render(ctx: Context, error: AppError): void {
  ctx.status = error.status;
  for (const [name, value] of Object.entries(error.headers)) ctx.set(name, value);
  if (error.items !== undefined) {
    ctx.body = { detail: error.items };
    return;
  }
  ctx.body = {
    detail: error.expose ? error.message : "Internal server error",
    code: error.code,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
  };
}
