// Structured logs with secrets taken out. One logger per process, made by its main file.
import { type Logger, pino } from "pino";

export type Log = Logger;

const apiKey = /\bpl_[0-9A-Za-z]{46}\b/g;

/** A JSON logger on stdout; API keys are cut to their first 8 characters wherever they appear in a message. */
export function makeLog(name: string, level: string): Log {
  return pino({
    name,
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: [
        'headers["x-api-key"]',
        "headers.authorization",
        "headers.cookie",
        '*.headers["x-api-key"]',
        "*.headers.authorization",
      ],
      censor: "[redacted]",
    },
    hooks: {
      streamWrite: (line) => line.replace(apiKey, (key) => `${key.slice(0, 8)}[redacted]`),
    },
  });
}
