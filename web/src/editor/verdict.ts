// What a failure to save labels means: whether to try again, to merge, or to tell somebody. Pure.
import { ApiError } from "../../../client/error.ts";
import type { Verdict } from "./autosave.ts";

export function judge(error: unknown): Verdict {
  if (!(error instanceof ApiError))
    return { is: "retry", reason: "The service does not respond. Your labels are kept in this browser." };
  const { status, code, detail, faults } = error;
  if (status === 412 || code === "annotation_not_found") return { is: "read" };
  if (status === 401)
    return {
      is: "wait",
      reason: "The session has ended. Your labels are saved when you have signed in again.",
    };
  if (status === 422) {
    const found = faults.flatMap(({ loc, msg }) =>
      loc[1] === "annotations" && typeof loc[2] === "number" ? [{ at: loc[2], reason: msg }] : [],
    );
    return found.length > 0 ? { is: "faulty", faults: found } : { is: "refused", reason: detail };
  }
  if (code === "annotation_set_copying")
    return { is: "retry", reason: "The set is being copied. Saving goes on when the copy is complete." };
  if (code !== "quota_exceeded" && (status === 429 || status >= 500)) return { is: "retry", reason: detail };
  if (code === "annotation_set_published")
    return {
      is: "refused",
      reason: "The set has been published, so it never changes again. Your labels are kept in this browser.",
    };
  return { is: "refused", reason: detail };
}
