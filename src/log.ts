// Structured logs with secrets taken out. One logger per process, made by its main file.
import { type Logger, type LoggerOptions, pino } from "pino";

export type Log = Logger;

/**
 * Secrets wherever they stand in a line, in errors and their causes too. API keys and webhook secrets keep their first 8
 * characters, as the lists of keys show them. Not bound to word boundaries: in JSON a line break is the letter n. With
 * lengths, because a search without takes the square of the line's length.
 */
const secrets: readonly [form: RegExp, kept: string][] = [
  [/(pl_[0-9A-Za-z]{5})[0-9A-Za-z]{41}/g, "$1[redacted]"],
  [/(whsec_[0-9A-Za-z+/]{2})[0-9A-Za-z+/]{22,}=*/g, "$1[redacted]"],
  // Whoever has the signature of a signed URL may do what it allows.
  [/(X-Amz-(?:Signature|Security-Token)=)[^&"\\\s]+/gi, "$1[redacted]"],
  [/(postgres(?:ql)?:\/\/[^:/@\s"]{0,100}:)[^@\s"]{1,300}@/g, "$1[redacted]@"],
  // Tokens of service accounts.
  [/eyJ[\w-]{1,500}\.eyJ[\w-]{1,4000}\.[\w-]+/g, "[redacted]"],
];
const any = /pl_|whsec_|x-amz-s|postgres|eyJ/i;

const secretHeaders = new Set(["x-api-key", "authorization", "proxy-authorization", "cookie", "set-cookie"]);

const flushMs = 100;
const warn = 40;

/**
 * A JSON logger on stdout. With `buffered` it writes many lines at once, a tenth of a second late at most: a line for
 * each request, written by itself, is a tenth of all that the request costs. Warnings and errors are written at once with
 * all before them, and so is what is left at the end of the process; only SIGKILL takes lines along.
 */
export function makeLog(name: string, level: string, { buffered = false } = {}): Log {
  // Not flushSync on a timer of ours: that waits for the disk where stdout is a file.
  const held = buffered ? { minLength: 8_192, periodicFlush: flushMs } : {};
  const out = pino.destination({ dest: 1, sync: true, ...held });
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
 * An object as it may be written: secret headers are named only, its own and those of the objects in it (`err` has a
 * serializer). By hand: pino's `redact` takes each line apart whether it has headers or not, a sixth of all that a request
 * leaves to be collected.
 */
function withoutSecretHeaders<T extends object>(object: T, depth = 0): T {
  let written = object;
  for (const name in object) {
    const value: unknown = object[name];
    if (typeof value !== "object" || value === null || name === "err") continue;
    const safe = name === "headers" ? named(value) : depth === 0 ? withoutSecretHeaders(value, 1) : value;
    if (safe !== value) written = { ...written, [name]: safe };
  }
  return written;
}

function named(headers: object): object {
  const safe = ([name, value]: [string, unknown]) => [
    name,
    secretHeaders.has(name.toLowerCase()) ? "[redacted]" : value,
  ];
  return Object.fromEntries(Object.entries(headers).map(safe));
}

/** The line as it may be written. */
export function withoutSecrets(line: string): string {
  return any.test(line) ? secrets.reduce((text, [form, kept]) => text.replace(form, kept), line) : line;
}
