// The error that the client throws for every response that is not a success. Thrown by client.ts, caught by its
// callers.
import type { ErrorCode, ValidationError } from "./schema.ts";

interface ErrorBody {
  readonly detail?: string | ValidationError["detail"];
  readonly code?: ErrorCode;
  readonly errors?: ApiError["errors"];
}

export class ApiError extends Error {
  override name = "ApiError";
  readonly status: number;
  /** The service's message alone, a sentence for people. */
  readonly detail: string;
  /** Error code, one stable word; undefined with status 422, which has `faults` instead. */
  readonly code: ErrorCode | undefined;
  /** The faults of a 422; empty for other statuses. */
  readonly faults: ValidationError["detail"];
  /** All failed preconditions, of errors that can have several; otherwise empty. */
  readonly errors: readonly { readonly code: ErrorCode; readonly message: string }[];
  /** Identifies the request in the service's logs. */
  readonly requestId: string | null;

  constructor(response: Response, body: unknown) {
    const { detail, code, errors = [] } = isErrorBody(body) ? body : {};
    const faults = Array.isArray(detail) ? detail : [];
    const words = typeof detail === "string" ? detail : faults.map(sentence).join("; ") || textOf(body);
    super(`${new URL(response.url).pathname} answered ${response.status}: ${words}`);
    this.status = response.status;
    this.detail = words;
    this.code = code;
    this.faults = faults;
    this.errors = errors;
    this.requestId = response.headers.get("X-Request-Id");
  }
}

const sentence = ({ loc, msg }: ValidationError["detail"][number]) => `${loc.join(".")}: ${msg}`;

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === "object" && body !== null && "detail" in body;
}

/** The text of a body in any form: a proxy between client and service may have responded. */
function textOf(body: unknown): string {
  const text = typeof body === "string" ? body : JSON.stringify(body ?? "");
  return text.slice(0, 300);
}
