// Failures of requests to the API server, classified by status and reason; callers never test message text.
// Thrown by transport.ts; used by all code that calls the API server.

export class KubeError extends Error {
  override readonly name = "KubeError";
  /** HTTP status; 0 when there was no response. */
  readonly status: number;
  /** The `reason` of the API server's Status object: NotFound, AlreadyExists, Conflict, Expired, ... */
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;
  /** Whether the Status object names fields of the object that are wrong. */
  readonly namesFields: boolean;

  constructor(
    message: string,
    options: {
      status: number;
      reason: string;
      retryAfterSeconds?: number;
      namesFields?: boolean;
      cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.status = options.status;
    this.reason = options.reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.namesFields = options.namesFields ?? false;
  }
}

const hasReason = (error: unknown, reason: string) => error instanceof KubeError && error.reason === reason;

export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.status === 404;
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, "AlreadyExists");
export const isConflict = (error: unknown): boolean => hasReason(error, "Conflict");
/** The list or watch position is too old: list again. */
export const isExpired = (error: unknown): boolean => error instanceof KubeError && error.status === 410;
/**
 * The API server itself refuses the object as invalid; sending it again does not help. Its validation (422) names the fields,
 * and a body that it cannot read is a BadRequest. Admission policies and webhooks deny with the same statuses, without these.
 */
export const isInvalid = (error: unknown): boolean =>
  error instanceof KubeError &&
  ((error.status === 422 && error.namesFields) || (error.status === 400 && error.reason === "BadRequest"));
/** Refused by RBAC, by a resource quota of the namespace, or by an admission policy or webhook. All of these may change. */
export const isDenied = (error: unknown): boolean =>
  error instanceof KubeError && [400, 403, 422].includes(error.status) && !isInvalid(error);
/** Too many requests or, for an eviction, a PodDisruptionBudget forbids it now. The server did nothing. */
export const isTooMany = (error: unknown): boolean => error instanceof KubeError && error.status === 429;
/** No response, or the API server is overloaded or failing: try again later. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500);
