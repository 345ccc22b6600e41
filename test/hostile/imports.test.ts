// Import documents that no labelling tool wrote: random documents made of parts of valid ones, and known attacks. Each
// is refused or its faults are reported, none causes a server error, and the reported count equals the stored labels.
// PLOSIVE_TEST_SEED repeats a run.
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Client, useApi } from "../support/api.ts";
import { seed } from "../support/trial.ts";
import { makeWorld, type World } from "../support/world.ts";
import { send } from "./send.ts";
import { randomOf } from "./sequence.ts";

const api = useApi();
const random = randomOf(seed);
let client: Client;
let world: World;
let base: string;
beforeAll(async () => {
  console.info(`seed ${seed}`);
  client = await api.tenant();
  world = await makeWorld(client, api.db);
  base = `/api/v1/datasets/${world.datasetId}/annotation-sets/${world.annotationSetId}/import`;
});

async function put(format: string, type: string, body: string | Buffer) {
  const answer = await send(
    api.url,
    "POST",
    `${base}/${format}`,
    [
      ["X-API-Key", client.key],
      ["Content-Type", type],
    ],
    body,
  );
  return { status: answer.status, text: answer.text };
}

const countOf = async () =>
  await api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from annotations where annotation_set_id = ${world.annotationSetId}`);

/** Imports one document and checks that its answer is complete and its count equals the stored labels. */
async function checkImport(format: string, type: string, body: string | Buffer): Promise<number> {
  const before = await countOf();
  const { status, text } = await put(format, type, body);
  const shown = `${String(body).slice(0, 300)} -> ${status} ${text.slice(0, 300)}`;
  expect([200, 400, 413, 422, 429], shown).toContain(status);
  const added = (await countOf()) - before;
  expect(added, shown).toBe(status === 200 ? JSON.parse(text).imported : 0);
  expect(text, shown).not.toMatch(/node_modules|\.ts:\d|constraint|slonik/);
  return status;
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
const invalidValue = () =>
  pick<unknown>([
    null,
    true,
    0,
    -0,
    -1,
    1e308,
    1e-320,
    2 ** 53,
    9e15,
    "",
    "\0",
    "\ud800",
    "NaN",
    "1.5",
    [],
    {},
    [[]],
    { a: { b: [1] } },
    "click",
    "x".repeat(300),
    "__proto__",
    "\u202e",
    "1,5",
    "=1+1",
    [null],
    "00:00:01.5",
    { labels: ["click"] },
    -5e-324,
  ]);

/** A copy of a valid document in which random parts are replaced, dropped or duplicated. */
function mutated(value: unknown, rate: number): unknown {
  if (random() < rate) return invalidValue();
  if (Array.isArray(value)) {
    const items = value.filter(() => random() > rate / 2).map((item) => mutated(item, rate));
    return random() < rate ? [...items, ...items] : items;
  }
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .filter(() => random() > rate / 2)
        .map(([name, member]) => [
          random() < rate / 2 ? String(invalidValue()) : name,
          mutated(member, rate),
        ]),
    );
  return value;
}

const result = (start: number, end: number) => ({
  id: "r1",
  from_name: "label",
  to_name: "audio",
  type: "labels",
  score: 0.5,
  meta: { note: "x" },
  value: { start, end, labels: ["click"], channel: 0 },
});
const document = () => ({
  tasks: [
    {
      id: 1,
      data: { audio: "https://127.0.0.1/x/take.wav", audio_file_id: world.audioFileId, filename: "take.wav" },
      annotations: [
        {
          id: 1,
          result: [result(random() * 300, 301), result(1, 2)],
          completed_by: 1,
          was_cancelled: false,
          ground_truth: true,
        },
      ],
      predictions: [],
    },
  ],
});

describe("a label tool's document", () => {
  it("of random parts causes no server error and is counted exactly", async () => {
    const statuses = new Map<number, number>();
    for (let i = 0; i < 400; i++) {
      const rate = i % 10 === 0 ? 0 : random() * 0.3;
      const made = mutated(document(), rate) as { tasks?: unknown };
      const body = JSON.stringify(i % 2 === 0 || made === null ? made : (made.tasks ?? made)) ?? "null";
      const status = await checkImport("annotation-tool", "application/json", body);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    console.info("label tool:", Object.fromEntries(statuses));
    expect(statuses.get(200)).toBeGreaterThan(50);
  });

  it.each<[string, () => unknown]>([
    [
      "100,001 results",
      () => ({ tasks: [{ ...document().tasks[0], annotations: [{ result: Array(100_001).fill({}) }] }] }),
    ],
    ["50,000 empty tasks", () => Array(50_000).fill({})],
    ["a region of 10^300 seconds", () => withValue({ start: 0, end: 1e300, labels: ["click"] })],
    ["a region that ends before it starts", () => withValue({ start: 2, end: 1, labels: ["click"] })],
    ["a region with its times as strings", () => withValue({ start: "0", end: "1", labels: ["click"] })],
    [
      "10,000 labels on one region",
      () => withValue({ start: 0, end: 1, labels: Array(10_000).fill("click") }),
    ],
    ["a label of a megabyte", () => withValue({ start: 0, end: 1, labels: ["x".repeat(1e6)] })],
    [
      "members named __proto__",
      () =>
        JSON.parse(
          '[{"data":{"__proto__":{"audio_file_id":"x"}},"annotations":[{"result":[{"__proto__":null}]}]}]',
        ),
    ],
    [
      "the URL of a metadata service as audio",
      () => ({
        tasks: [
          {
            data: { audio: "http://169.254.169.254/latest/meta-data/" },
            annotations: [{ result: [result(0, 1)] }],
          },
        ],
      }),
    ],
    [
      "the path of a local file as audio",
      () => ({
        tasks: [{ data: { audio: "file:///etc/passwd" }, annotations: [{ result: [result(0, 1)] }] }],
      }),
    ],
    [
      "an id of another tenant",
      () => ({
        tasks: [{ data: { audio_file_id: world.keyId }, annotations: [{ result: [result(0, 1)] }] }],
      }),
    ],
    [
      "a name of 100,000 characters that could slow down a regular expression",
      () => ({
        tasks: [
          {
            data: { audio: `${"/a".repeat(50_000)}!`, filename: "%".repeat(50_000) },
            annotations: [{ result: [result(0, 1)] }],
          },
        ],
      }),
    ],
  ])("with %s is answered", async (_, make) => {
    await checkImport("annotation-tool", "application/json", JSON.stringify(make()));
  });

  const withValue = (value: object) => ({
    tasks: [{ ...document().tasks[0], annotations: [{ result: [{ ...result(0, 1), value }] }] }],
  });
});

const cells = () =>
  pick<string>([
    "click",
    "hum",
    "10",
    "20",
    "30.5",
    "-1",
    "",
    '"',
    '""',
    '"a,b"',
    '"a\nb"',
    "1e3",
    "9".repeat(40),
    "NaN",
    "\u0000",
    "\ufeff",
    "=cmd|' /C calc'!A0",
    world.audioFileId,
    "take.wav",
    '{"a":1}',
    "{",
    "\t",
    ";",
    "\u2028",
    "x".repeat(5_000),
    "0x10",
    "1,5",
    "\ud83d\ude00",
    "'",
    "\\",
    "null",
  ]);

describe("a CSV document", () => {
  it("of random cells causes no server error and is counted exactly", async () => {
    const header = [
      "audio_file_id",
      "filename",
      "artifact_type",
      "start_ms",
      "end_ms",
      "confidence",
      "extra_data",
    ];
    const statuses = new Map<number, number>();
    for (let i = 0; i < 400; i++) {
      const columns = header.map((name) => (random() < 0.05 ? cells() : name)).filter(() => random() > 0.03);
      const good = [world.audioFileId, "take.wav", "click", String(i), String(i + 1), "1", ""];
      const rate = i % 8 === 0 ? 0 : random() * 0.4;
      const lines = Array.from({ length: 1 + Math.floor(random() * 5) }, () =>
        good.map((cell) => (random() < rate ? cells() : cell)).filter(() => random() > rate / 10),
      );
      const mark = pick([",", ",", ";", "\t"]);
      const end = pick(["\n", "\r\n", "\r"]);
      const text = [columns, ...lines].map((line) => line.join(mark)).join(end);
      const cut = random() < 0.1 ? text.slice(0, Math.floor(random() * text.length)) : text;
      const status = await checkImport("csv", "text/csv", cut);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    console.info("tables:", Object.fromEntries(statuses));
    expect(statuses.get(200)).toBeGreaterThan(50);
  });

  it.each<[string, () => string | Buffer]>([
    ["nothing but quotes", () => '"'.repeat(1e6)],
    ["nothing but commas", () => ",".repeat(1e6)],
    ["nothing but line breaks", () => "\n".repeat(1e6)],
    ["an unclosed quote", () => `audio_file_id,artifact_type,start_ms,end_ms\n"${"a,\n".repeat(300_000)}`],
    ["one line of 8 MB", () => "a".repeat(8e6)],
    ["the same column a thousand times", () => "start_ms,".repeat(1_000)],
    ["invalid bytes in every character set", () => Buffer.alloc(10_000, 0xfe)],
    ["UTF-16", () => Buffer.from("artifact_type,start_ms", "utf16le")],
    ["a NUL in the header", () => "artifact_type\0,start_ms,end_ms,filename\nclick,1,2,take.wav"],
  ])("of %s is answered", async (_, make) => {
    await checkImport("csv", "text/csv", make());
  });
});

describe("a label track", () => {
  it("of random cells causes no server error and is counted exactly", async () => {
    const statuses = new Map<number, number>();
    for (let i = 0; i < 400; i++) {
      const rate = i % 8 === 0 ? 0 : random() * 0.5;
      const line = () =>
        [String(random() * 100), String(100 + random()), "click"]
          .map((cell) => (random() < rate ? cells() : cell))
          .filter(() => random() > rate / 10)
          .join("\t");
      const text = Array.from({ length: 1 + Math.floor(random() * 5) }, line).join(
        pick(["\n", "\r\n", "\n\\\t1\t2\n"]),
      );
      const status = await checkImport(`audacity?audio_file_id=${world.audioFileId}`, "text/plain", text);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    console.info("label tracks:", Object.fromEntries(statuses));
    expect(statuses.get(200)).toBeGreaterThan(50);
  });
});
