// What can go wrong between this process and the API server, as kinds that callers test instead of message text.
// Thrown by transport.ts; used by everything that talks to Kubernetes.

export class KubeError extends Error {
  override readonly name = "KubeError";
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** The API server's own word: NotFound, AlreadyExists, Conflict, Expired, ... */
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
/** The object is not acceptable; sending it again will not help. */
export const isInvalid = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 400 || error.status === 422);
/** Not with these rights, or not now: also how a quota of the namespace or a policy says no. */
export const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.status === 403;
/** Asked too often, or of a pod: no budget allows its eviction now. Nothing was done. */
export const isTooMany = (error: unknown): boolean => error instanceof KubeError && error.status === 429;
/** Nobody answered, or the API server says that it cannot at the moment: try again later. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500);
