// Runs the snippets of docs/events.md, unchanged, on signatures of the service, and checks the document's table of
// event types.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { eventTypes } from "../../src/schemas/event.ts";
import { formatSecret, makeSecret } from "../../src/webhooks/secret.ts";
import { signatureHeaders } from "../../src/webhooks/sign.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/events.md"), "utf8");
const dir = mkdtempSync(join(tmpdir(), "plosive-guide-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const snippet = (language: string) => {
  const found = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(guide)?.[1];
  if (found === undefined) throw new Error(`the guide has no snippet in ${language}`);
  return found;
};

const [secret, old] = [makeSecret(randomBytes), makeSecret(randomBytes)];
const body = '{"type" : "model.created", "data" : {"text" : "ä"}}';
const cases = [
  {
    name: "as it was sent",
    headers: signatureHeaders("evt_1", Date.now(), body, [secret]),
    body,
    valid: true,
  },
  {
    name: "with two signatures",
    headers: signatureHeaders("evt_1", Date.now(), body, [old, secret]),
    body,
    valid: true,
  },
  {
    name: "by another secret",
    headers: signatureHeaders("evt_1", Date.now(), body, [old]),
    body,
    valid: false,
  },
  {
    name: "changed",
    headers: signatureHeaders("evt_1", Date.now(), body, [secret]),
    body: `${body} `,
    valid: false,
  },
  {
    name: "old",
    headers: signatureHeaders("evt_1", Date.now() - 400_000, body, [secret]),
    body,
    valid: false,
  },
];
const expected = cases.map(({ name, valid }) => [name, valid]);

describe("the guide", () => {
  it("verifies signatures in Node.js", async () => {
    const file = join(dir, "verify.mjs");
    writeFileSync(file, snippet("js"));
    const { verify } = await import(file);
    const said = cases.map(({ name, headers, body }) => [name, verify(formatSecret(secret), headers, body)]);
    expect(said).toEqual(expected);
  });

  it("verifies signatures in Python", () => {
    const file = join(dir, "cases.json");
    writeFileSync(file, JSON.stringify(cases));
    const program = `${snippet("python")}
import json, sys
cases = json.load(open(sys.argv[1]))
print(json.dumps([[c["name"], verify(sys.argv[2], c["headers"], c["body"].encode())] for c in cases]))`;
    const output = execFileSync("python3", ["-c", program, file, formatSecret(secret)], { encoding: "utf8" });
    expect(JSON.parse(output)).toEqual(expected);
  });

  it("names every event type, and no other", () => {
    const rows = guide.split("\n").filter((line) => line.startsWith("| `"));
    const named = rows.flatMap((row) => {
      const [first = "", ...others] = [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(
        (match) => match[1] ?? "",
      );
      const noun = first.split(".")[0] ?? "";
      return [first, ...others].map((word) => (word.startsWith(".") ? noun + word : word));
    });
    const inference = eventTypes.filter((type) => type.startsWith("inference_job."));
    expect([...named.filter((type) => type !== "inference_job."), ...inference].sort()).toEqual(
      [...eventTypes].sort(),
    );
    expect(named).toContain("inference_job.");
  });
});
