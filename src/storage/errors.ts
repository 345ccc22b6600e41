// Classifies failures of the object store by status and error code, never by message text. Used by src/api and
// controllers.
import { S3ServiceException } from "@aws-sdk/client-s3";

/** The object does not exist. False when the bucket does not exist: then nothing is known about the object. */
export function isNotFound(error: unknown): boolean {
  return (
    error instanceof S3ServiceException &&
    error.$metadata.httpStatusCode === 404 &&
    error.name !== "NoSuchBucket"
  );
}

/** The ETag of the object or part differs from the one that the caller named. */
export function isChanged(error: unknown): boolean {
  return (
    error instanceof S3ServiceException &&
    (error.$metadata.httpStatusCode === 412 || error.name === "InvalidPart")
  );
}

/** The object is larger than the caller accepts. */
export class TooLargeError extends Error {
  override name = "TooLargeError";
}

const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
]);

/** The store or the source of its credentials is unreachable or overloaded; the same call may succeed later. */
export function isStoreUnavailable(error: unknown): boolean {
  if (error instanceof S3ServiceException) {
    const status = error.$metadata.httpStatusCode ?? 0;
    return status >= 500 || status === 429;
  }
  if (error instanceof Error && error.name === "CredentialsProviderError") return true;
  if (!(error instanceof Error) || !("$metadata" in error)) return false;
  if (error.name === "TimeoutError") return true;
  const codes = [error, error.cause].map((e) => (e instanceof Error && "code" in e ? String(e.code) : ""));
  if (error instanceof AggregateError) codes.push(...error.errors.map((e) => String(e?.code)));
  // HPE_*: the response is not valid HTTP, for example while a proxy in between starts.
  return codes.some((code) => networkCodes.has(code) || code.startsWith("HPE_"));
}
