// The worker thread of threads.ts: reads one large document at a time.
import { constants, setPriority } from "node:os";
import { AppError } from "../../errors.ts";
import { type DocumentName, documents } from "./documents.ts";
import { type BodyInput, type BodyResult, readBody } from "./read.ts";

// On Linux this concerns only the calling thread: when processors are scarce, the thread that answers requests comes first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

export interface Task {
  readonly name: DocumentName;
  readonly input: BodyInput;
}

/** A class does not survive the way between threads, so an error is returned as its fields. */
export type Outcome = BodyResult | { readonly refused: Pick<AppError, "status" | "code" | "message"> };

export default function readDocument({ name, input }: Task): Outcome {
  try {
    return readBody(documents[name], input);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { status, code, message } = error;
    return { refused: { status, code, message } };
  }
}
