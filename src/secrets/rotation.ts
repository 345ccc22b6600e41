// Decides when the certificate of the run endpoint is replaced. Worker pods read the trusted certificates once, when they
// start, so a certificate is trusted 30 days before the endpoint uses it. Pure; called by secrets.ts.
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Certificate } from "./certificate.ts";

export const rotationDays = 30;
/** The rest is a reserve for rotations that do not run. */
export const validDays = 120;
const day = 86_400_000;

/** Members of the Secret. Absent before the first run; without `next` when taken over from chart 0.1. */
export interface Members {
  readonly "tls.crt"?: string;
  readonly "tls.key"?: string;
  readonly "next.crt"?: string;
  readonly "next.key"?: string;
  /** The certificates that worker pods trust: the next one, the present one and earlier ones. */
  readonly "ca.crt"?: string;
}

/** Returns all members as they must be at `now` (ms). They equal the present ones if there is nothing to do. */
export function rotated(
  present: Members,
  host: string,
  now: number,
  make: () => Certificate,
): Required<Members> {
  let current = usable(present["tls.crt"], present["tls.key"], host, now) ?? make();
  let next = usable(present["next.crt"], present["next.key"], host, now);
  if (next !== undefined && validFrom(next) <= now - rotationDays * day) {
    current = next;
    next = undefined;
  }
  next ??= make();
  const earlier = certificatesOf(present["ca.crt"] ?? "").filter((pem) => isValid(pem, now));
  const trusted = new Set([next.certificate, current.certificate, ...earlier]);
  return {
    "tls.crt": current.certificate,
    "tls.key": current.key,
    "next.crt": next.certificate,
    "next.key": next.key,
    // Four: two rotations. Operators serve an earlier certificate for a few minutes after the first.
    "ca.crt": [...trusted].slice(0, 4).join(""),
  };
}

const validFrom = ({ certificate }: Certificate) => new X509Certificate(certificate).validFromDate.getTime();

function usable(
  certificate: string | undefined,
  key: string | undefined,
  host: string,
  now: number,
): Certificate | undefined {
  if (certificate === undefined || key === undefined) return undefined;
  try {
    const parsed = new X509Certificate(certificate);
    const fits = parsed.checkPrivateKey(createPrivateKey(key)) && parsed.checkHost(host) !== undefined;
    return fits && isValid(certificate, now) ? { certificate, key } : undefined;
  } catch {
    return undefined;
  }
}

function isValid(pem: string, now: number): boolean {
  return new X509Certificate(pem).validToDate.getTime() > now;
}

function certificatesOf(bundle: string): string[] {
  const found = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return found.map((pem) => `${pem}\n`);
}
