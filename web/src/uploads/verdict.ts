// What a failed step of an upload means: whether to try again, and what to tell the user. Pure.
import { ApiError } from "../../../client/error.ts";
import type { Verdict } from "./queue.ts";

/** The service says these about a file itself; sending the same bytes again changes nothing. */
const finalCodes = new Set([
  "unsupported_audio",
  "dataset_not_found",
  "validation_failed",
  "insufficient_role",
  "insufficient_scope",
  "job_started",
  "job_finished",
  "invalid_request",
]);

export function judge(error: unknown, { isOnline }: { isOnline: boolean }): Verdict {
  if (!isOnline)
    return { is: "stop", reason: "This computer is offline. The uploads go on when the network is back." };
  if (!(error instanceof ApiError)) return judgeOther(error instanceof Error ? error.message : String(error));
  const { status, code, detail } = error;
  if (status === 401)
    return { is: "stop", reason: "The session has ended. The uploads go on when you have signed in again." };
  if (code === "quota_exceeded") return { is: "stop", reason: `${detail}. Make room, then continue.` };
  if (code === "audio_file_not_found" || code === "inference_file_not_found" || code === "upload_expired")
    return { is: "anew", reason: "The service has deleted the unfinished upload: it begins anew." };
  if (code === "upload_mismatch")
    return { is: "retry", reason: "The bytes that arrived differ from the file. They are sent again." };
  if (status === 422 || (code !== undefined && finalCodes.has(code))) return { is: "final", reason: detail };
  return { is: "retry", reason: detail };
}

function judgeOther(message: string): Verdict {
  if (message.includes("NotFoundError") || message.includes("NotReadableError"))
    return {
      is: "final",
      reason: "The file cannot be read any more: it was moved, changed or deleted. Choose it again.",
    };
  if (message.includes("no connection"))
    return {
      is: "retry",
      reason:
        "There is no connection to the object store. If this happens to every file, the store may refuse uploads from web pages (CORS): ask the administrator.",
    };
  if (message.includes("stalled"))
    return { is: "retry", reason: "The connection to the object store has stalled." };
  return { is: "retry", reason: message };
}
