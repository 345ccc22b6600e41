// Failures of requests to the API server, classified by status and reason; callers never test message text.
// Thrown by transport.ts; used by all code that calls the API server.

export class KubeError extends Error {
  override readonly name = "KubeError";
  /** HTTP status; 0 when there was no response. */
  readonly status: number;
  /** The `reason` of the API server's Status object: NotFound, AlreadyExists, Conflict, Expired, ... */
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    options: { status: number; reason: string; retryAfterSeconds?: number; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.status = options.status;
    this.reason = options.reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

const hasReason = (error: unknown, reason: string) => error instanceof KubeError && error.reason === reason;

export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.status === 404;
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, "AlreadyExists");
export const isConflict = (error: unknown): boolean => hasReason(error, "Conflict");
/** The list or watch position is too old: list again. */
export const isExpired = (error: unknown): boolean => error instanceof KubeError && error.status === 410;
/** The API server refuses the object as invalid; sending it again does not help. */
export const isInvalid = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 400 || error.status === 422);
/** Refused: by RBAC, by a resource quota of the namespace, or by an admission policy. The last two may change. */
export const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.status === 403;
/** Too many requests or, for an eviction, a PodDisruptionBudget forbids it now. The server did nothing. */
export const isTooMany = (error: unknown): boolean => error instanceof KubeError && error.status === 429;
/** No response, or the API server is overloaded or failing: try again later. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500);
