// Cases: bodies that are not JSON, not UTF-8, or valid JSON with problems. One endpoint represents all of them, since
// one function reads all bodies; the fields of each endpoint are in fields.ts.
import { hostileUrls } from "../../support/hostile-urls.ts";
import type { HostileCase } from "../case.ts";

const path = "/api/v1/datasets";
const set = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}";
const bytes = (...parts: (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));
const utf16 = (text: string) => Buffer.from(text, "utf16le");
const nested = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels);

const notJson: readonly (readonly [name: string, body: string | Buffer])[] = [
  ["only a brace", "{"],
  ["only white space", " \t\r\n "],
  ["a member without value", '{"name":}'],
  ["a trailing comma in an object", '{"name":"x",}'],
  ["a trailing comma in an array", '{"name":"x","artifact_types":[{"name":"a"},]}'],
  ["two commas", '{"name":"x",,"description":"y"}'],
  ["a missing comma", '{"name":"x" "description":"y"}'],
  ["single quotes", "{'name':'x'}"],
  ["a name without quotes", '{name:"x"}'],
  ["a comment", '{"name":"x"/* y */}'],
  ["a comment to the end of the line", '{"name":"x"}// y'],
  ["two documents", '{"name":"x"}\n{"name":"y"}'],
  ["NaN", '{"name":NaN}'],
  ["Infinity", '{"name":Infinity}'],
  ["minus Infinity", '{"name":-Infinity}'],
  ["undefined", '{"name":undefined}'],
  ["a plus sign", '{"name":+1}'],
  ["a leading zero", '{"name":01}'],
  ["a bare dot", '{"name":.5}'],
  ["a dot at the end", '{"name":5.}'],
  ["hexadecimal", '{"name":0x10}'],
  ["an exponent without digits", '{"name":1e}'],
  ["True with a capital", '{"name":True}'],
  ["a line break within text", '{"name":"a\nb"}'],
  ["a tab within text", '{"name":"a\tb"}'],
  ["a NUL byte within text", '{"name":"a\0b"}'],
  ["a NUL byte after the document", '{"name":"x"}\0'],
  ["an unknown escape", '{"name":"\\x41"}'],
  ["an incomplete escape", '{"name":"\\u00"}'],
  ["a backslash at the end", '{"name":"x\\"}'],
  ["an unclosed string", '{"name":"x'],
  ["a list closed as an object", '{"name":["x"}'],
  ["a template string", '{"name":`x`}'],
  ["YAML", "name: x\n"],
  ["XML", "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>"],
  ["a form", "name=x&description=y"],
  ["a function call", 'callback({"name":"x"})'],
  ["an anti-hijacking prefix", ')]}\',\n{"name":"x"}'],
  ["a script", "{\"name\":(function(){return 'x'})()}"],
  [
    "gzip without Content-Encoding",
    bytes([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
  ],
  ["a zip file", bytes("PK", [3, 4, 20, 0, 0, 0, 8, 0])],
  ["UTF-16 without a mark", utf16('{"name":"x"}')],
  ["UTF-16 with a mark", bytes([0xff, 0xfe], [...utf16('{"name":"x"}')])],
  ["UTF-16, high byte first", Buffer.from(utf16('{"name":"x"}')).swap16()],
  ["UTF-32", bytes([..."{}"].flatMap((char) => [char.charCodeAt(0), 0, 0, 0]))],
  ["a byte that is invalid in UTF-8", bytes('{"name":"', [0xff], '"}')],
  ["a continuation byte alone", bytes('{"name":"', [0x80], '"}')],
  ["a truncated character", bytes('{"name":"', [0xe2, 0x82], '"}')],
  ["an overlong slash", bytes('{"name":"', [0xc0, 0xaf], '"}')],
  ["an overlong NUL", bytes('{"name":"', [0xc0, 0x80], '"}')],
  ["a surrogate in UTF-8", bytes('{"name":"', [0xed, 0xa0, 0x80], '"}')],
  ["a character beyond Unicode", bytes('{"name":"', [0xf4, 0x90, 0x80, 0x80], '"}')],
  ["Latin-1", bytes('{"name":"caf', [0xe9], '"}')],
  ["lists in lists, 21 deep", `{"x":${nested("[", "]", 20)}}`],
  ["objects in objects, 100 deep", `${'{"a":'.repeat(100)}1${"}".repeat(100)}`],
  ["lists in lists, 100,000 deep", nested("[", "]", 100_000)],
  ["lists that never close", "[".repeat(500_000)],
  ["objects that never close", '{"a":'.repeat(200_000)],
];

const tooLong = (length: number) => JSON.stringify({ name: "x", filler: "y".repeat(length) });

const invalid: readonly (readonly [name: string, body: string, code: string, loc: (string | number)[]])[] = [
  ["a name twice, the last one wrong", '{"name":"x","name":7}', "string_type", ["body", "name"]],
  [
    "a name of 256 characters beyond the basic plane",
    JSON.stringify({ name: "\u{1f600}".repeat(256) }),
    "string_too_long",
    ["body", "name"],
  ],
  ["the prototype instead of a name", '{"__proto__":{"name":"x"}}', "missing", ["body", "name"]],
  [
    "the constructor instead of a name",
    '{"constructor":{"prototype":{"name":"x"}}}',
    "missing",
    ["body", "name"],
  ],
  ["a name in capitals", '{"NAME":"x"}', "missing", ["body", "name"]],
  ["a name with a byte order mark before it", '{"\ufeffname":"x"}', "missing", ["body", "name"]],
  [
    "a list of 300,000 numbers as a name",
    JSON.stringify({ name: Array(300_000).fill(1) }),
    "string_type",
    ["body", "name"],
  ],
  [
    "types that differ in case only",
    '{"name":"x","artifact_types":[{"name":"Click"},{"name":"click"}]}',
    "value_error",
    ["body", "artifact_types"],
  ],
  [
    "a type with a line break at its end",
    '{"name":"x","artifact_types":[{"name":"click\\n"}]}',
    "string_pattern_mismatch",
    ["body", "artifact_types", 0, "name"],
  ],
  [
    "a type that begins with a space",
    '{"name":"x","artifact_types":[{"name":" click"}]}',
    "string_pattern_mismatch",
    ["body", "artifact_types", 0, "name"],
  ],
  [
    "a type named __proto__",
    '{"name":"x","artifact_types":[{"name":"__proto__"}]}',
    "string_pattern_mismatch",
    ["body", "artifact_types", 0, "name"],
  ],
  [
    "a type in full-width letters",
    '{"name":"x","artifact_types":[{"name":"ｃｌｉｃｋ"}]}',
    "string_pattern_mismatch",
    ["body", "artifact_types", 0, "name"],
  ],
  [
    "a type of 65 characters",
    JSON.stringify({ name: "x", artifact_types: [{ name: "a".repeat(65) }] }),
    "string_pattern_mismatch",
    ["body", "artifact_types", 0, "name"],
  ],
  [
    "a type that could make a pattern slow",
    JSON.stringify({ name: "x", artifact_types: [{ name: `${"a ".repeat(100_000)}!` }] }),
    "string_pattern_mismatch",
    ["body", "artifact_types", 0, "name"],
  ],
];

const annotation = (more: string) =>
  `{"audio_file_id":"{audio_file_id}","artifact_type":"click","start_ms":10,"end_ms":20,${more}}`;
const patched = (more: Record<string, unknown>) =>
  JSON.stringify({
    audio_file_id: "{audio_file_id}",
    artifact_type: "click",
    start_ms: 10,
    end_ms: 20,
    ...more,
  });
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

const annotations: readonly (readonly [
  name: string,
  body: string,
  code: string,
  field: string,
  ...deeper: (string | number)[],
])[] = [
  ["extra data 6 levels deep", annotation(`"extra_data":${deep(6)}`), "value_error", "extra_data"],
  [
    "extra data of more than 4 KiB",
    patched({ extra_data: { a: "x".repeat(4100) } }),
    "value_error",
    "extra_data",
  ],
  [
    "extra data of more than 4 KiB in UTF-8",
    patched({ extra_data: { a: "\u20ac".repeat(1500) } }),
    "value_error",
    "extra_data",
  ],
  [
    "a NUL within extra data",
    annotation('"extra_data":{"a":["\\u0000"]}'),
    "value_error",
    "extra_data",
    "a",
    0,
  ],
  ["a NUL in a name of extra data", annotation('"extra_data":{"\\u0000":1}'), "value_error", "extra_data"],
  [
    "a surrogate in a name of extra data",
    annotation('"extra_data":{"\\udc00":1}'),
    "value_error",
    "extra_data",
  ],
  ["extra data that is a list", annotation('"extra_data":[1]'), "dict_type", "extra_data"],
  ["an end before its start", patched({ start_ms: 21 }), "value_error", "end_ms"],
  ["an end beyond the audio", patched({ end_ms: 360_051 }), "value_error", "end_ms"],
  ["a time beyond 2^63", annotation('"end_ms":9223372036854775808'), "less_than_equal", "end_ms"],
  ["a time beyond 2^53", annotation('"end_ms":9007199254740993'), "less_than_equal", "end_ms"],
  ["a time of 400 digits", annotation(`"end_ms":${"9".repeat(400)}`), "int_type", "end_ms"],
  [
    "a type that the dataset does not have",
    patched({ artifact_type: "plosive" }),
    "value_error",
    "artifact_type",
  ],
  ["a type in other case", patched({ artifact_type: "Click" }), "value_error", "artifact_type"],
  ["an unknown file id", patched({ audio_file_id: "{nobody}" }), "value_error", "audio_file_id"],
  [
    "a file id with a line break",
    patched({ audio_file_id: "{audio_file_id}\n" }),
    "uuid_parsing",
    "audio_file_id",
  ],
  ["a file id in braces", patched({ audio_file_id: "{{audio_file_id}}" }), "uuid_parsing", "audio_file_id"],
  [
    "a file id without dashes",
    patched({ audio_file_id: "00000000000040008000000000000000" }),
    "uuid_parsing",
    "audio_file_id",
  ],
  [
    "a confidence of 1.0000000000000002",
    annotation('"confidence":1.0000000000000002'),
    "less_than_equal",
    "confidence",
  ],
  ["a confidence just below 0", annotation('"confidence":-5e-324'), "greater_than_equal", "confidence"],
];

const uploadPath = "/api/v1/datasets/{dataset_id}/audio/upload-url";
const upload = (more: Record<string, unknown>) =>
  JSON.stringify({ filename: "x.wav", content_type: "audio/wav", size_bytes: 100, ...more });
const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
const uploads: readonly (readonly [name: string, body: string, code: string, loc: (string | number)[]])[] = [
  ["17 pairs of metadata", upload({ metadata: pairs(17) }), "value_error", ["metadata"]],
  ["100,000 pairs of metadata", upload({ metadata: pairs(50_000) }), "value_error", ["metadata"]],
  ["metadata that is no text", upload({ metadata: { a: 1 } }), "string_type", ["metadata", "a"]],
  ["metadata with a NUL", upload({ metadata: { a: "\0" } }), "value_error", ["metadata", "a"]],
  ["metadata with a NUL in its name", upload({ metadata: { "a\0": "b" } }), "value_error", ["metadata"]],
  ["metadata without a name", upload({ metadata: { "": "b" } }), "string_too_short", ["metadata", ""]],
  [
    "metadata with a name of 65 characters",
    upload({ metadata: { ["k".repeat(65)]: "b" } }),
    "string_too_long",
    ["metadata", "k".repeat(65)],
  ],
  [
    "metadata of 513 characters",
    upload({ metadata: { a: "x".repeat(513) } }),
    "string_too_long",
    ["metadata", "a"],
  ],
  ["a type with a parameter", upload({ content_type: "audio/wav; codecs=1" }), "enum", ["content_type"]],
  ["a type in capitals", upload({ content_type: "AUDIO/WAV" }), "enum", ["content_type"]],
  [
    "a type with a header in it",
    upload({ content_type: "audio/wav\r\nX-Evil: 1" }),
    "enum",
    ["content_type"],
  ],
  ["a video type", upload({ content_type: "video/mp4" }), "enum", ["content_type"]],
  [
    "a digest in capitals",
    upload({ checksum_sha256: "A".repeat(64) }),
    "string_pattern_mismatch",
    ["checksum_sha256"],
  ],
  [
    "a digest with a line break",
    upload({ checksum_sha256: `${"a".repeat(64)}\n` }),
    "string_pattern_mismatch",
    ["checksum_sha256"],
  ],
  [
    "a digest of 63 digits",
    upload({ checksum_sha256: "a".repeat(63) }),
    "string_pattern_mismatch",
    ["checksum_sha256"],
  ],
];

const keys: readonly (readonly [name: string, expires: string, code: string])[] = [
  ["in the past", "2020-01-01T00:00:00Z", "value_error"],
  ["without an offset", "2099-01-01T00:00:00", "datetime_parsing"],
  ["that is a date", "2099-01-01", "datetime_parsing"],
  ["on the 30th of February", "2099-02-30T00:00:00Z", "datetime_parsing"],
  ["in a 13th month", "2099-13-01T00:00:00Z", "datetime_parsing"],
  ["at 25 o'clock", "2099-01-01T25:00:00Z", "datetime_parsing"],
  ["in the year 10000", "10000-01-01T00:00:00Z", "datetime_parsing"],
  ["as seconds", "4070908800", "datetime_parsing"],
  ["in words", "infinity", "datetime_parsing"],
  ["now", "now", "datetime_parsing"],
  ["with a NUL", "2099-01-01T00:00:00Z\0", "datetime_parsing"],
];

const bad = (loc: (string | number)[], code: string) => ({ status: 422, code, loc });

export const jsonCases: readonly HostileCase[] = [
  ...notJson.map(([name, body]) => ({
    name: `a body with ${name}`,
    request: { method: "POST", path, body },
    status: 400,
    code: "invalid_request",
  })),
  ...invalid.map(([name, body, code, loc]) => ({
    name: `a dataset with ${name}`,
    request: { method: "POST", path, body },
    ...bad(loc, code),
  })),
  ...annotations.map(([name, body, code, ...field]) => ({
    name: `an annotation with ${name}`,
    request: { method: "POST", path: `${set}/annotations`, body },
    ...bad(["body", ...field], code),
  })),
  ...annotations.map(([name, body, code, ...field]) => ({
    name: `annotations, the second with ${name}`,
    request: {
      method: "POST",
      path: `${set}/annotations/bulk`,
      body: `{"annotations":[${patched({})},${body}]}`,
    },
    ...bad(["body", "annotations", 1, ...field], code),
  })),
  ...uploads.map(([name, body, code, loc]) => ({
    name: `an upload with ${name}`,
    request: { method: "POST", path: uploadPath, body },
    ...bad(["body", ...loc], code),
  })),
  ...keys.map(([name, expires_at, code]) => ({
    name: `a key that expires ${name}`,
    request: {
      method: "POST",
      path: "/api/v1/auth/api-keys",
      body: JSON.stringify({ name: "x", expires_at }),
    },
    ...bad(["body", "expires_at"], code),
  })),
  ...hostileUrls.map(([url]) => ({
    name: `a webhook to ${JSON.stringify(url)}`,
    request: { method: "POST", path: "/api/v1/webhooks", body: JSON.stringify({ url }) },
    ...bad(["body", "url"], "value_error"),
  })),
  ...(
    [
      ["a body of one byte more than a mebibyte", path, tooLong(1024 * 1024 - 23)],
      ["annotations of more than 8 MiB", `${set}/annotations/bulk`, tooLong(8 * 1024 * 1024)],
    ] as const
  ).map(([name, place, body]) => ({
    name,
    request: { method: "POST", path: place, body },
    status: 413,
    code: "body_too_large",
  })),
];
