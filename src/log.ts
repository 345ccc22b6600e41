// Structured JSON logs with secrets redacted. Each process has one logger, which its main file makes.
import { type Logger, type LoggerOptions, pino } from "pino";

export type Log = Logger;

/**
 * Patterns of secrets, applied to the whole line, so that errors and their causes are covered too. API keys and webhook
 * secrets keep their first 8 characters, as the list of keys shows them. The patterns do not use \b: in JSON, a line
 * break before a secret is written as \n, and the letter n is a word character. Every repetition has an upper bound
 * where an unbounded one would take quadratic time.
 */
const secrets: readonly [form: RegExp, kept: string][] = [
  [/(pl_[0-9A-Za-z]{5})[0-9A-Za-z]{41}/g, "$1[redacted]"],
  [/(whsec_[0-9A-Za-z+/]{2})[0-9A-Za-z+/]{22,}=*/g, "$1[redacted]"],
  // The signature of a presigned URL is all that an attacker needs to use the URL.
  [/(X-Amz-(?:Signature|Security-Token)=)[^&"\\\s]+/gi, "$1[redacted]"],
  [/(postgres(?:ql)?:\/\/[^:/@\s"]{0,100}:)[^@\s"]{1,300}@/g, "$1[redacted]@"],
  // Service account tokens (JWT).
  [/eyJ[\w-]{1,500}\.eyJ[\w-]{1,4000}\.[\w-]+/g, "[redacted]"],
];
/** A cheap test that skips most lines. */
const mayHoldSecret = /pl_|whsec_|x-amz-s|postgres|eyJ/i;

const secretHeaders = new Set(["x-api-key", "authorization", "proxy-authorization", "cookie", "set-cookie"]);

const flushMs = 100;
const warn = 40;

/**
 * Makes a JSON logger on stdout. With `buffered`, it writes lines in batches, at most 0.1 s late: writing one line per
 * request separately costs a tenth of the request's time. A warning or an error flushes the buffer at once, and so does
 * the end of the process. Only SIGKILL loses lines.
 */
export function makeLog(name: string, level: string, { buffered = false } = {}): Log {
  // pino's periodicFlush, not a timer that calls flushSync: flushSync waits for the disk if stdout is a file.
  const buffering = buffered ? { minLength: 8_192, periodicFlush: flushMs } : {};
  const out = pino.destination({ dest: 1, sync: true, ...buffering });
  if (buffered) process.on("exit", () => out.flushSync());
  const options: LoggerOptions = {
    name,
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: withoutSecretHeaders },
    serializers: { err: (error: Error) => withoutSecretHeaders(pino.stdSerializers.err(error)) },
    hooks: {
      streamWrite: withoutSecrets,
      logMethod(args, method, severity) {
        method.apply(this, args);
        if (buffered && severity >= warn) out.flushSync();
      },
    },
  };
  return pino(options, out);
}

/**
 * Redacts the values of secret headers, in the object itself and in the objects one level below it. (`err` has its own
 * serializer.) pino's `redact` would parse every line, with or without headers, which makes a sixth of all garbage of a
 * request.
 */
function withoutSecretHeaders<T extends object>(object: T, depth = 0): T {
  let written = object;
  for (const name in object) {
    const value: unknown = object[name];
    if (typeof value !== "object" || value === null || name === "err") continue;
    const safe = name === "headers" ? redacted(value) : depth === 0 ? withoutSecretHeaders(value, 1) : value;
    if (safe !== value) written = { ...written, [name]: safe };
  }
  return written;
}

function redacted(headers: object): object {
  const safe = ([name, value]: [string, unknown]) => [
    name,
    secretHeaders.has(name.toLowerCase()) ? "[redacted]" : value,
  ];
  return Object.fromEntries(Object.entries(headers).map(safe));
}

/** Redacts every secret in a log line. */
export function withoutSecrets(line: string): string {
  return mayHoldSecret.test(line)
    ? secrets.reduce((text, [form, kept]) => text.replace(form, kept), line)
    : line;
}
