// Secrets never appear in the log, whether they are in a message, an error, its cause or a header.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { withoutSecrets } from "../src/log.ts";

const key = `pl_${"Ab1".repeat(15)}Z`;
const hook = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const password = "hunter2-and-more";
const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl-_";
const signature = "0f".repeat(32);
const all = [key, hook, password, token, signature];

/** The log lines of a separate process, as it writes them to stdout. */
async function outputOf(statements: string): Promise<string> {
  const file = join(import.meta.dirname, "../src/log.ts");
  const program = `
    const { makeLog } = await import(${JSON.stringify(file)});
    const [key, hook, password, token, signature] = ${JSON.stringify(all)};
    const log = makeLog("test", "trace");
    ${statements}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  return stdout;
}

describe("a log", () => {
  let output: string;
  beforeAll(async () => {
    output = await outputOf(`
      const url = "postgres://plosive:" + password + "@db:5432/plosive";
      const signed = "https://s3/b/k?X-Amz-Date=1&X-Amz-Signature=" + signature + "&x-id=GetObject";
      log.info("plain " + key + " " + hook);
      log.info({ key, list: [key], deep: { er: { hook } } }, "members");
      log.info({ headers: { "x-api-key": key, authorization: "Bearer " + token, cookie: key } }, "headers");
      log.info({ req: { headers: { "x-api-key": "no key at all", "set-cookie": "secret-cookie" } } }, "headers");
      const refused = () => Object.assign(new Error("refused"), { headers: { Cookie: "secret-cookie" } });
      log.info({ err: refused(), cause: refused() }, "headers of errors");
      log.warn({ err: new Error("line\\nbreak\\n" + key, { cause: new Error("connect to " + url) }) }, "error");
      log.error({ err: Object.assign(new Error("x"), { query: { values: [key] }, url: signed }) }, "members of errors");
      log.child({ token, url: signed }).fatal("child " + url);
      log.debug({ [key]: key }, "as a name");
      log.info("quoted " + JSON.stringify({ a: JSON.stringify({ key, url }) }));
      log.info({ path: "/api?key=" + key + "x" + key }, "two");
    `);
  });

  it("contains no secret", () => {
    for (const secret of all) expect(output).not.toContain(secret);
    expect(output).not.toContain("no key at all");
    expect(output).not.toContain("secret-cookie");
    // Nor a large part of one.
    expect(output).not.toContain(key.slice(0, 12));
    expect(output).not.toContain(hook.slice(0, 12));
  });

  it("still identifies the secret, and contains everything else", () => {
    const lines = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(11);
    expect(lines[0].msg).toBe("plain pl_Ab1Ab[redacted] whsec_Mf[redacted]");
    expect(lines[1]).toMatchObject({ key: "pl_Ab1Ab[redacted]", level: "info", name: "test" });
    const headers = { Cookie: "[redacted]" };
    expect(lines[4]).toMatchObject({ err: { message: "refused", headers }, cause: { headers } });
    expect(lines[5].err.stack).toContain("postgres://plosive:[redacted]@db:5432/plosive");
    expect(lines[6].err.url).toBe("https://s3/b/k?X-Amz-Date=1&X-Amz-Signature=[redacted]&x-id=GetObject");
  });
});

describe("a log line", () => {
  it.each([
    ["nothing to hide: pl_short, whsec_, postgres, eyJ"],
    ["postgres://db:5432/plosive"],
    ["the host postgres: it is away"],
    ["pl_ and 46 characters, but _not_ in one piece"],
  ])("without secrets is unchanged: %s", (line) => {
    expect(withoutSecrets(line)).toBe(line);
  });

  // So long that quadratic time would exceed the timeout of the test.
  it.each([
    ["pl_", "pl_".repeat(400_000)],
    ["whsec_", "whsec_".repeat(400_000)],
    ["eyJ.", "eyJ.".repeat(400_000)],
    ["postgres://a:", "postgres://a:".repeat(400_000)],
    ["X-Amz-Signature=", "X-Amz-Signature=[redacted]"],
    // Every third point is between two tokens.
    ["eyJa.eyJb", `${"[redacted].".repeat(133_333)}eyJbeyJa.eyJb`],
  ])("is scanned in linear time when %s is repeated", (fragment, expected) => {
    expect(withoutSecrets(fragment.repeat(400_000)) === expected).toBe(true);
  });
});

describe("a buffered log", () => {
  const log = (file: string) =>
    `const { makeLog } = await import(${JSON.stringify(file)});
     const log = makeLog("test", "info", { buffered: true });`;
  const start = (statements: string) =>
    spawn(
      process.execPath,
      ["--input-type=module", "-e", log(join(import.meta.dirname, "../src/log.ts")) + statements],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
  const firstOf = async (child: ReturnType<typeof start>) => String((await once(child.stdout!, "data"))[0]);

  it("writes its lines within a moment, and warnings at once", async () => {
    const waiting = start(`log.info("one"); log.info("two"); setInterval(() => {}, 1e6);`);
    const warning = start(`log.info("one"); log.warn("two"); while (true);`);
    try {
      for (const child of [waiting, warning]) {
        const lines = (await firstOf(child)).trim().split("\n");
        expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["one", "two"]);
      }
    } finally {
      waiting.kill("SIGKILL");
      warning.kill("SIGKILL");
    }
  });

  it("writes its remaining lines when the process ends, in any way", async () => {
    for (const end of ["process.exit(0)", "throw new Error('end')", ""]) {
      const { stdout } = await promisify(execFile)(process.execPath, [
        "--input-type=module",
        "-e",
        `${log(join(import.meta.dirname, "../src/log.ts"))} for (let i = 0; i < 500; i++) log.info("line"); ${end}`,
      ]).catch((error: { stdout: string }) => error);
      expect(stdout.trim().split("\n")).toHaveLength(500);
    }
  });
});
