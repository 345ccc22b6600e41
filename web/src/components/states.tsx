// What a page shows when it has nothing else to show: loading, empty, failed.
import type { ComponentChildren } from "preact";
import { ApiError } from "../app/api.ts";
import type { Resource } from "../app/resource.ts";
import { Button } from "./button.tsx";
import { CopyText } from "./copy.tsx";
import { Icon } from "./icon.tsx";

/** Grey lines where text will be. They appear only if it takes long enough to notice. */
export function Loading({ what, lines = 5 }: { what: string; lines?: number }) {
  return (
    <div class="loading" aria-busy="true">
      <p class="visually-hidden" role="status">
        Loading {what}
      </p>
      {Array.from({ length: lines }, (_, i) => (
        <div class="bone" key={i} />
      ))}
    </div>
  );
}

export function Empty({
  title,
  children,
  actions,
  isSmall,
}: {
  title: string;
  children?: ComponentChildren;
  actions?: ComponentChildren;
  isSmall?: boolean;
}) {
  return (
    <div class={isSmall ? "empty small-empty" : "empty"}>
      {!isSmall && <div class="empty-wave" aria-hidden="true" />}
      <h2>{title}</h2>
      {children && <div class="muted prose">{children}</div>}
      {actions && <div class="row">{actions}</div>}
    </div>
  );
}

/** What a person can do about an error. */
function adviceFor(error: unknown): string {
  if (!(error instanceof ApiError))
    return "The service did not respond. Check your network connection, then try again.";
  const { status } = error;
  const code: string | undefined = error.code;
  if (code === "insufficient_scope") return "Sign in with a key that has the scope this needs.";
  if (code === "insufficient_role")
    return "Ask an owner of the account, or the administrator for another role.";
  if (code === "quota_exceeded")
    return "Delete what you no longer need, or ask your administrator for a higher quota.";
  if (status === 412)
    return "Somebody else changed this meanwhile. Close this, look at the present state and try again.";
  if (status === 404) return "It may have been deleted, or it belongs to another account.";
  if (status === 429) return "Wait a little, then try again.";
  if (status === 503) return "The service is starting or busy. Try again in a moment.";
  if (status >= 500)
    return "This is a fault of the service. Try again; if it stays, send the request id to your administrator.";
  return "";
}

/** An error in a form or a page: what was attempted, what happened, what to do, and the id of the request. */
export function Problem({
  attempted,
  error,
  onRetry,
}: {
  attempted: string;
  error: unknown;
  onRetry?: (() => unknown) | undefined;
}) {
  const isOfService = error instanceof ApiError;
  const detail = isOfService ? error.detail : "";
  const advice = adviceFor(error);
  return (
    <div class="problem" role="alert">
      <Icon name="error" />
      <div class="stack-tight">
        <p>
          <strong>{attempted} failed.</strong>{" "}
          {detail !== "" && <span class="break">{withStop(detail)} </span>}
          {advice}
        </p>
        {isOfService && error.requestId !== null && (
          <p class="tiny faint row">
            Request id <CopyText text={error.requestId} what="request id" />
          </p>
        )}
        {onRetry && (
          <p>
            <Button isSmall icon="retry" onClick={() => void onRetry()}>
              Try again
            </Button>
          </p>
        )}
      </div>
    </div>
  );
}

const withStop = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Shows a resource: its data if there are any, beside the reason why they are old, if they are. */
export function Shown<T>({
  resource,
  what,
  children,
  lines,
}: {
  resource: Resource<T>;
  /** "the datasets" */
  what: string;
  children: (data: T) => ComponentChildren;
  lines?: number;
}) {
  const { data, error, reload } = resource;
  return (
    <>
      {error !== undefined && <Problem attempted={`Loading ${what}`} error={error} onRetry={reload} />}
      {data !== undefined ? children(data) : error === undefined && <Loading what={what} lines={lines} />}
    </>
  );
}
