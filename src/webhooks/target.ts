// What a webhook's URL must look like. Asked when it is registered and again before every attempt; where its name leads
// is looked up only then (send.ts).

/** Origins that an administrator allows besides: for receivers inside the own network, and for tests. */
export type AllowedOrigins = ReadonlySet<string>;

export interface Target {
  readonly url: URL;
  /** The administrator vouches for it: any scheme, port and address. */
  readonly allowed: boolean;
}

export type Judged = { readonly target: Target } | { readonly refusal: string };

const ports = new Set(["", "443", "8443"]);
// Names that no public name server answers for, or that lead back into a cluster or a network at home.
const innerNames =
  /(?:^|\.)(?:local|localhost|localdomain|internal|intranet|lan|home|corp|private|test|example|invalid|onion|alt|arpa|svc|cluster)$/;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The target, or why it is refused: a clause for "Value error, ...". */
export function judgeTarget(text: string, allowed: AllowedOrigins): Judged {
  const refuse = (refusal: string) => ({ refusal });
  // The parser would drop or repair all of these in silence, and what is checked must be what is called.
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
  // As it was written: the parser makes 0x7f.1 and 2130706433 into 127.0.0.1.
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
