// Cases of raw bytes: requests that two servers could split at different places, heads that are too large or not HTTP,
// and truncated bodies. Each gets a single refusal, and the server closes the connection.
import type { RawCase } from "../case.ts";

const head = "Host: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\n";
const post = `POST /api/v1/datasets HTTP/1.1\r\n${head}`;
const get = "GET /api/v1/datasets HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n";
const body = '{"name":"smuggled"}';
const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
const chunked = `${post}Transfer-Encoding: chunked\r\n`;
const length = `Content-Length: ${body.length}\r\n`;
/** The request that an attacker wants to smuggle. */
const second = `${post}${length}\r\n${body}`;

const ambiguousLengths: readonly (readonly [name: string, bytes: string])[] = [
  ["a length and chunks", `${chunked}${length}\r\n${chunk}0\r\n\r\n`],
  ["chunks and a length of 0", `${chunked}Content-Length: 0\r\n\r\n0\r\n\r\n${second}`],
  ["two lengths that differ", `${post}Content-Length: 1\r\nContent-Length: ${body.length}\r\n\r\n${body}`],
  ["two lengths that agree", `${post}${length}${length}\r\n${body}`],
  ["two lengths in one header", `${post}Content-Length: ${body.length}, ${body.length}\r\n\r\n${body}`],
  ["a length with a plus", `${post}Content-Length: +${body.length}\r\n\r\n${body}`],
  ["a length in hexadecimal", `${post}Content-Length: 0x13\r\n\r\n${body}`],
  ["a negative length", `${post}Content-Length: -1\r\n\r\n${body}`],
  ["a length that is not a number", `${post}Content-Length: many\r\n\r\n${body}`],
  ["a length beyond 2^64", `${post}Content-Length: 18446744073709551617\r\n\r\n${body}`],
  ["a length with a space within", `${post}Content-Length: 1 9\r\n\r\n${body}`],
  ["a length with a space before its colon", `${post}Content-Length : ${body.length}\r\n\r\n${body}`],
  [
    "chunks that are not the last coding",
    `${post}Transfer-Encoding: chunked, identity\r\n\r\n${chunk}0\r\n\r\n`,
  ],
  ["an unknown coding", `${post}Transfer-Encoding: xchunked\r\n\r\n${chunk}0\r\n\r\n`],
  ["a coding below the chunks", `${post}Transfer-Encoding: gzip, chunked\r\n\r\n${chunk}0\r\n\r\n`],
  ["chunks in two headers", `${chunked}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`],
  ["a coding with a control character", `${post}Transfer-Encoding: \x0bchunked\r\n\r\n${chunk}0\r\n\r\n`],
  ["a coding with a space before its colon", `${post}Transfer-Encoding : chunked\r\n\r\n${chunk}0\r\n\r\n`],
  [
    "a coding folded over two lines",
    `${post}Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
  ],
  ["chunks in quotes", `${post}Transfer-Encoding: "chunked"\r\n\r\n${chunk}0\r\n\r\n`],
  ["a chunk size that is not a number", `${chunked}\r\nzz\r\n${body}\r\n0\r\n\r\n`],
  ["a negative chunk size", `${chunked}\r\n-1\r\n${body}\r\n0\r\n\r\n`],
  ["a chunk size with 0x", `${chunked}\r\n0x13\r\n${body}\r\n0\r\n\r\n`],
  ["a chunk size beyond 2^64", `${chunked}\r\n10000000000000000\r\n${body}\r\n0\r\n\r\n`],
  ["a chunk longer than its size", `${chunked}\r\n5\r\n${body}\r\n0\r\n\r\n`],
  ["no line break behind a chunk", `${chunked}\r\n${body.length.toString(16)}\r\n${body}0\r\n\r\n`],
  ["a bare line feed behind a chunk size", `${chunked}\r\n13\n${body}\r\n0\r\n\r\n`],
  ["a bare carriage return in a chunk extension", `${chunked}\r\n13;a\rb\r\n${body}\r\n0\r\n\r\n`],
  ["an endless chunk extension", `${chunked}\r\n13;${"a".repeat(40_000)}\r\n${body}\r\n0\r\n\r\n`],
];

const noHttp: readonly (readonly [name: string, bytes: string, status?: number])[] = [
  ["a greeting", "hello\r\n\r\n"],
  ["only line breaks and a word", "\r\n\r\nx\r\n\r\n"],
  ["a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["HTTP/0.9", "GET /api/v1/datasets\r\n\r\n"],
  ["HTTP/3", "GET / HTTP/3.0\r\nHost: x\r\n\r\n"],
  ["a version of letters", "GET / HTTP/x.y\r\nHost: x\r\n\r\n"],
  ["another protocol", "GET / ICAP/1.0\r\nHost: x\r\n\r\n"],
  ["an unknown method", "BREW /coffee HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["a method in lower case", "get / HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["no path", "GET  HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["a space in the path", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["a NUL in the path", "GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["a NUL in a header", `${get}A: a\0b\r\n\r\n`],
  ["a control character in the name of a header", `${get}A\x01: b\r\n\r\n`],
  ["a header without name", `${get}: b\r\n\r\n`],
  ["a header without colon", `${get}header\r\n\r\n`],
  ["a space in the name of a header", `${get}A B: c\r\n\r\n`],
  ["a line that begins with a space", `GET /api/v1/datasets HTTP/1.1\r\n X: y\r\nHost: x\r\n\r\n`],
  ["a bare carriage return in a header", `${get}A: b\rX-Evil: 1\r\n\r\n`],
  ["no host", `GET /api/v1/datasets HTTP/1.1\r\nX-API-Key: {key}\r\nConnection: close\r\n\r\n`],
  ["an expectation of another kind", `${post}Expect: tea\r\n${length}\r\n${body}`, 417],
  ["a header of 20 kB", `${get}A: ${"a".repeat(20_000)}\r\n\r\n`, 431],
  ["a header name of 20 kB", `${get}${"A".repeat(20_000)}: a\r\n\r\n`, 431],
  ["5,000 headers", `${get}${Array.from({ length: 5_000 }, (_, i) => `A${i}: b\r\n`).join("")}\r\n`, 431],
  ["a path of 20 kB", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
  ["trailers of 40 kB", `${chunked}\r\n${chunk}0\r\n${"A: b\r\n".repeat(7_000)}\r\n`, 431],
];

const line =
  (prefix: string) =>
  ([name, bytes, status = 400]: readonly [string, string, number?]): RawCase => ({
    name: `${prefix} ${name}`,
    bytes,
    status,
  });

export const rawCases: readonly RawCase[] = [
  ...ambiguousLengths.map(line("a request with")),
  ...noHttp.map(line("bytes that are not HTTP:")),
];

/** The client disconnects before its body is complete: nobody receives an answer, and nothing is created. */
export const endingEarly: readonly (readonly [name: string, bytes: string])[] = [
  ["in the middle of the body", `${post}${length}\r\n${body.slice(0, 5)}`],
  ["before the body", `${post}${length}\r\n`],
  ["one byte before its end", `${post}Content-Length: ${body.length + 1}\r\n\r\n${body}`],
  ["in the middle of a chunk", `${chunked}\r\n${chunk.slice(0, 8)}`],
  ["before the last chunk", `${chunked}\r\n${chunk}`],
  ["in the middle of the head", post],
];
