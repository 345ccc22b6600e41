// Checks a URL that a client chose. Called when the webhook or upload is registered (src/api/target.ts) and before every
// request to it (request.ts). Only request.ts resolves the host name.

/** Further origins that an administrator allows: for receivers inside the own network, and for tests. */
export type AllowedOrigins = ReadonlySet<string>;

export interface Target {
  readonly url: URL;
  /** An administrator allowed the origin: any scheme, port and address is accepted. */
  readonly allowed: boolean;
}

export type TargetCheck = { readonly target: Target } | { readonly refusal: string };

const ports = new Set(["", "443", "8443"]);
// Names that public DNS does not serve, or that resolve inside a cluster or a home network.
const innerNames =
  /(?:^|\.)(?:local|localhost|localdomain|internal|intranet|lan|home|corp|private|test|example|invalid|onion|alt|arpa|svc|cluster)$/;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the target, or the reason for its refusal: a clause for "Value error, ...". */
export function checkTarget(text: string, allowed: AllowedOrigins): TargetCheck {
  const refuse = (refusal: string) => ({ refusal });
  // The URL parser silently drops or repairs all of these. The checked text must be the URL that is called.
  if (!/^[\x21-\x7e]+$/.test(text)) return refuse("the URL must consist of visible ASCII characters");
  if (text.includes("\\")) return refuse("the URL must not contain a backslash");
  const written = /^(https?):\/\/([^/?#]*)/i.exec(text);
  if (written === null || !URL.canParse(text)) return refuse("this is not an absolute https URL");
  const url = new URL(text);
  const authority = written[2] ?? "";
  if (authority.includes("@") || url.username !== "" || url.password !== "")
    return refuse("the URL must not contain credentials");
  if (text.includes("#")) return refuse("the URL must not have a fragment");
  if (allowed.has(url.origin)) return { target: { url, allowed: true } };

  if (url.protocol !== "https:") return refuse("the URL must begin with https://");
  if (!ports.has(url.port)) return refuse("the port must be 443 or 8443");
  // Checks the host as written: the parser turns 0x7f.1 and 2130706433 into 127.0.0.1.
  const host = authority.replace(/:\d*$/, "").toLowerCase();
  if (host.startsWith("[") || host.includes(":")) return refuse("the host must be a name, not an address");
  if (host.endsWith(".")) return refuse("the host must not end in a dot");
  const labels = host.split(".");
  if (host.length > 253 || !labels.every((part) => label.test(part)))
    return refuse("the host is not a valid name");
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? ""))
    return refuse("the host must be a name, not an address");
  if (innerNames.test(host) || labels.length < 2) return refuse("the host must be a public name");
  if (url.hostname !== host) return refuse("the host is not a valid name");
  return { target: { url, allowed: false } };
}
