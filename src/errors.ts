// Every error that the API reports to clients: one type, and one factory per code. src/api and src/db throw them;
// src/api/middleware/answer-errors.ts is the only place that turns them into responses. Code that handles an error
// looks at its `code`, never at its message.
import type { DashboardErrorCode, ErrorCode as RestErrorCode } from "./schemas/error-code.ts";

type ErrorCode = RestErrorCode | DashboardErrorCode;

export interface ValidationItem {
  /** Location of the fault: body, path, query or header, then the members down to it. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** The first faults of a part of a request, and the number of all: a body can have a million. */
export interface Faults {
  readonly items: ValidationItem[];
  total: number;
}

const maxFaults = 100;

export function addFault(faults: Faults, make: () => ValidationItem): void {
  if (faults.items.length < maxFaults) faults.items.push(make());
  faults.total += 1;
}

/** Returns the first faults and, if there are more, the number of all as a last one. */
export const listOf = ({ items, total }: Faults, part: string): readonly ValidationItem[] =>
  total === items.length
    ? items
    : [...items, valueError([part], `there are ${total} faults; only the first ${items.length} are listed`)];

interface AppErrorOptions {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  readonly hint?: string;
  /** Only with status 422: the faults of the request, of each part at most the first 100. */
  readonly items?: readonly ValidationItem[];
  /** Only for errors that can have several failed preconditions: all of them. */
  readonly errors?: readonly { code: ErrorCode; message: string }[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

export class AppError extends Error {
  override name = "AppError";
  readonly code: ErrorCode;
  readonly status: number;
  /** Whether clients see the message. If false, they get "Internal server error" instead. */
  readonly expose: boolean;
  readonly hint: string | undefined;
  readonly items: readonly ValidationItem[] | undefined;
  readonly errors: readonly { code: ErrorCode; message: string }[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(options: AppErrorOptions) {
    super(options.message, { cause: options.cause });
    this.code = options.code;
    this.status = options.status;
    this.expose = options.status < 500 || options.status === 503;
    this.hint = options.hint;
    this.items = options.items;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }
}

const error = (status: number, code: ErrorCode, message: string, more: Partial<AppErrorOptions> = {}) =>
  new AppError({ ...more, status, code, message });

// 400, 413, 415: the form of the request, before its fields are looked at.
export const invalidRequest = (what: string) =>
  error(400, "invalid_request", `Invalid request format: ${what}`);
export const bodyTooLarge = (maxBytes: number) =>
  error(413, "body_too_large", `The request body must not be larger than ${maxBytes} bytes`);
export const unsupportedMediaType = (type: string) =>
  error(
    415,
    "unsupported_media_type",
    `The request body must be ${type === "application/json" ? "JSON" : "UTF-8 text"}, sent with Content-Type: ${type}`,
  );

/** The content type is right, but the body is compressed. Accept-Encoding tells the client so (RFC 9110, 15.5.16). */
export const unsupportedEncoding = () =>
  error(
    415,
    "unsupported_media_type",
    "The request body must not be compressed; send it without Content-Encoding",
    {
      headers: { "Accept-Encoding": "identity" },
    },
  );

// 401, 403: authentication. Clients compare these texts, so they must not change. Every kind of invalid key gets the same one.
const challenge = { headers: { "WWW-Authenticate": "APIKey" } };
export const invalidApiKey = () => error(401, "invalid_api_key", "Invalid or missing API key", challenge);
export const expiredApiKey = () => error(401, "api_key_expired", "API key expired", challenge);
export const insufficientScope = (needed: string, own: readonly string[]) =>
  error(
    403,
    "insufficient_scope",
    `The request needs an API key with ${needed}; this key has only ${own.join(", ")}`,
  );
export const insufficientRole = (own: string, needed: string) =>
  error(403, "insufficient_role", `The request needs the role ${needed}; you have the role ${own}`);
export const tenantSuspended = () => error(403, "tenant_suspended", "This account is suspended");

// 401, 403 of the dashboard.
export const sessionEnded = () =>
  error(401, "session_ended", "You are not signed in, or your session has ended; sign in again", challenge);
export const signInLinkUsed = () =>
  error(
    401,
    "sign_in_link_used",
    "The sign-in link was used before or has expired; create a new one with plosive-admin sign-in-link",
    challenge,
  );
export const crossSiteRequest = () =>
  error(403, "cross_site_request", "Only pages of the dashboard itself may send this request");
export const accountChanged = () =>
  error(
    409,
    "account_changed",
    "This browser has been signed in to another account since the page was loaded; load the page again",
  );
export const insecureConnection = () =>
  error(
    403,
    "insecure_connection",
    "Signing in needs https, because anybody on the way could read the session. Use the https address of the service. If a proxy ends TLS, let it send X-Forwarded-Proto and set PLOSIVE_TRUSTED_PROXIES. To accept the danger, set PLOSIVE_DASHBOARD_INSECURE=true",
  );

export const accountUnavailable = () =>
  error(403, "account_unavailable", "The account that your role is for does not exist or is suspended");
export const noRole = () => error(403, "no_role", "You have no role in an account of this service");
export const signInRefused = () =>
  error(401, "sign_in_refused", "The OpenID provider has refused the sign-in", challenge);
export const signInFailed = () =>
  error(401, "sign_in_failed", "The answer of the OpenID provider does not belong to a sign-in", challenge);
export const providerUnavailable = (cause: unknown) =>
  error(503, "provider_unavailable", "The OpenID provider does not respond", { cause });

// 404, 405. A resource of another tenant gets the same answer as a resource that does not exist.
export const routeNotFound = () => error(404, "route_not_found", "Not Found");
export const methodNotAllowed = (allow: readonly string[]) =>
  error(405, "method_not_allowed", "Method Not Allowed", { headers: { Allow: allow.join(", ") } });
export const apiKeyNotFound = () => error(404, "api_key_not_found", "API key not found");
export const datasetNotFound = () => error(404, "dataset_not_found", "Dataset not found");
export const audioFileNotFound = () => error(404, "audio_file_not_found", "Audio file not found");
export const annotationSetNotFound = () => error(404, "annotation_set_not_found", "Annotation set not found");
export const annotationNotFound = () => error(404, "annotation_not_found", "Annotation not found");
export const trainingJobNotFound = () => error(404, "training_job_not_found", "Training job not found");
export const modelNotFound = () => error(404, "model_not_found", "Model not found");
export const inferenceJobNotFound = () => error(404, "inference_job_not_found", "Inference job not found");
export const inferenceFileNotFound = () => error(404, "inference_file_not_found", "Inference file not found");
export const webhookNotFound = () => error(404, "webhook_not_found", "Webhook not found");
export const deliveryNotFound = () => error(404, "delivery_not_found", "Delivery not found");

// 409: a valid request that conflicts with the present state.
const conflict = (code: ErrorCode) => (message: string) => error(409, code, message);
export const datasetInUse = conflict("dataset_in_use");
export const artifactTypeInUse = conflict("artifact_type_in_use");
export const artifactTypesMissing = conflict("artifact_types_missing");
export const audioInUse = conflict("audio_in_use");
export const audioNotReady = conflict("audio_not_ready");
export const uploadNotFound = conflict("upload_not_found");
export const uploadMismatch = conflict("upload_mismatch");
export const uploadExpired = () =>
  conflict("upload_expired")("The upload was not confirmed in time; request a new upload ticket");
export const unsupportedAudio = conflict("unsupported_audio");
export const annotationSetCopying = () =>
  error(
    409,
    "annotation_set_copying",
    "Annotations are being copied; wait until `copying` of the new annotation set is null, or delete that set",
    { headers: { "Retry-After": "5" } },
  );
export const annotationSetPublished = () =>
  conflict("annotation_set_published")("The annotation set is published and cannot be changed");
export const jobFinished = (status: string) => conflict("job_finished")(`The job is already ${status}`);
export const jobNotFinished = (status: string) =>
  conflict("job_not_finished")(`The job is ${status}; wait until it ends, or cancel it`);
export const jobStarted = () => conflict("job_started")("The job has started and accepts no more files");
export const noFiles = conflict("no_files");
export const modelInactive = conflict("model_inactive");
export const modelArchived = conflict("model_archived");
export const webhookDisabled = () => conflict("webhook_disabled")("The webhook is disabled; enable it first");
export const modelNotArchived = () =>
  conflict("model_not_archived")("Only an archived model can be deleted; archive it first");
export const modelInUse = conflict("model_in_use");

export const preconditions = {
  annotationSetNotPublished: "annotation_set_not_published",
  embeddingsNotReady: "embeddings_not_ready",
  notEnoughAudio: "not_enough_audio",
  noAnnotations: "no_annotations",
} as const;

/** Status of a response about failed preconditions of training. */
const preconditionStatus = 409;

/** All failed preconditions in one error; the first one gives the code. */
export const preconditionsFailed = (errors: readonly { code: ErrorCode; message: string }[]) =>
  error(
    preconditionStatus,
    errors[0]?.code ?? "precondition_failed",
    errors.map(({ message }) => message).join("; "),
    { errors },
  );

/** `what`: a clause about the other request. */
export const requestInProgress = (what = "A request with the same Idempotency-Key is still in progress") =>
  error(409, "request_in_progress", `${what}; try again shortly`, { headers: { "Retry-After": "1" } });
export const keyAlreadyCreated = (id: string) =>
  conflict("key_already_created")(
    `This request has already created the API key ${id}. A key is shown only once; revoke it and create another`,
  );

// 412: the resource has changed since the client last read it.
export const preconditionFailed = () =>
  error(412, "precondition_failed", "The resource has changed: If-Match contains none of its current ETags");

// 422: the faults of the request at once.
export const validationFailed = (items: readonly ValidationItem[]) =>
  error(422, "validation_failed", "The request has invalid fields", { items });

/** A fault that the schema cannot express. `msg` is a clause: clients get "Value error, <msg>". */
export const valueError = (loc: readonly (string | number)[], msg: string): ValidationItem => ({
  loc,
  msg: `Value error, ${msg}`,
  type: "value_error",
});

// 429, 503: the client must wait, or free some quota.
export const rateLimited = (waitSeconds: number, headers: Readonly<Record<string, string>> = {}) =>
  error(429, "rate_limited", "Rate limit exceeded", {
    headers: { ...headers, "Retry-After": String(Math.max(1, Math.ceil(waitSeconds))) },
  });
export const quotaExceeded = (message: string) => error(429, "quota_exceeded", message);
export const annotationSetFull = (most: number) =>
  quotaExceeded(`An annotation set can have at most ${most} annotations`);
export const tooManyAnnotations = (most: number) =>
  quotaExceeded(`An account can have at most ${most} annotations; delete drafts or datasets first`);
export const tooManyAnnotationSets = (most: number) =>
  quotaExceeded(`An account can have at most ${most} annotation sets; delete drafts or datasets first`);
export const tooManyStreams = (most: number) =>
  error(
    429,
    "too_many_streams",
    `An account can have at most ${most} event streams open at once; close one first`,
  );
/** `what` names the resource of the service that the tenant's other requests use up. */
export const shareExceeded = (what: string) =>
  error(
    429,
    "share_exceeded",
    `Your account already uses its share of ${what}; wait for its other requests to end`,
    {
      headers: { "Retry-After": "2" },
    },
  );
export const unavailable = (what: string, cause?: unknown) =>
  error(503, "unavailable", `The ${what} cannot be reached at the moment; try again shortly`, {
    headers: { "Retry-After": "2" },
    cause,
  });
/** Clients that repeat requests wait longer than after an outage, because the same request would take as long again. */
export const tooSlow = (cause: unknown) =>
  error(
    503,
    "too_slow",
    "The request takes the database too long; narrow it with filters or a smaller page, or try again later",
    { headers: { "Retry-After": "30" }, cause },
  );
/** For /readyz and /startupz. `parts` lists each part of the process with `ok` or `fail`. */
export const notReady = (parts: string) =>
  error(503, "unavailable", `Not ready: ${parts}`, { headers: { "Retry-After": "2" } });
