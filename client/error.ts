// What the client throws when the service answers, but not with success. Thrown by client.ts, caught by its users.
import type { ErrorCode, ValidationError } from "./schema.ts";

interface ErrorBody {
  readonly detail?: string | ValidationError["detail"];
  readonly code?: ErrorCode;
}

export class ApiError extends Error {
  override name = "ApiError";
  readonly status: number;
  /** One stable word; undefined with 422, which has `faults`. */
  readonly code: ErrorCode | undefined;
  /** The fields that are wrong. */
  readonly faults: ValidationError["detail"];
  /** Names the request in the service's logs. */
  readonly requestId: string | null;

  constructor(response: Response, body: unknown) {
    const { detail, code } = isErrorBody(body) ? body : {};
    const faults = Array.isArray(detail) ? detail : [];
    const words = faults.length > 0 ? faults.map(sentence).join("; ") : (detail ?? textOf(body));
    super(`${new URL(response.url).pathname} answered ${response.status}: ${words}`);
    this.status = response.status;
    this.code = code;
    this.faults = faults;
    this.requestId = response.headers.get("X-Request-Id");
  }
}

const sentence = ({ loc, msg }: ValidationError["detail"][number]) => `${loc.join(".")}: ${msg}`;

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === "object" && body !== null && "detail" in body;
}

/** Whatever stood between us and the service may have answered in its own way. */
function textOf(body: unknown): string {
  const text = typeof body === "string" ? body : JSON.stringify(body ?? "");
  return text.slice(0, 300);
}
