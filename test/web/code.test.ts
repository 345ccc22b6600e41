// The drawer "API calls": what it shows works when it is pasted.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type ApiCall, addressOf, clientCodeOf, curlOf } from "../../web/src/app/code.ts";

const base = "https://plosive.example.com/voice";
const list: ApiCall = {
  method: "GET",
  path: "/api/v1/datasets",
  params: { query: { page: 1, name: "it's $HOME `id` & more", order: undefined } },
};
const create: ApiCall = {
  method: "POST",
  path: "/api/v1/datasets/{dataset_id}/annotation-sets",
  params: { path: { dataset_id: "0198b0de" }, header: { "Idempotency-Key": "a'b", "If-Match": undefined } },
  body: { note: "it's $HOME", types: [{ name: "click" }] },
};

/** The arguments that curl would get from a shell. */
const argumentsOf = (command: string) =>
  execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }; API_KEY=pl_1; ${command}`], {
    encoding: "utf8",
  })
    .split("\0")
    .slice(0, -1);

describe("the address", () => {
  it("has the parameters of path and query, and repeats a list", () => {
    expect(addressOf(list)).toBe("/api/v1/datasets?page=1&name=it%27s%20%24HOME%20%60id%60%20%26%20more");
    const jobs = {
      method: "GET",
      path: "/jobs/{id}",
      params: { path: { id: "a/b" }, query: { status: ["x", "y"] } },
    };
    expect(addressOf(jobs)).toBe("/jobs/a%2Fb?status=x&status=y");
  });
});

describe("the command", () => {
  it("passes hostile text to curl as it is", () => {
    expect(argumentsOf(curlOf(list, base))).toEqual([
      "-H",
      "X-API-Key: pl_1",
      `${base}/api/v1/datasets?page=1&name=it%27s%20%24HOME%20%60id%60%20%26%20more`,
    ]);
  });

  it("has the headers and the body of a change", () => {
    expect(argumentsOf(curlOf(create, base))).toEqual([
      "-H",
      "X-API-Key: pl_1",
      "-H",
      "Idempotency-Key: a'b",
      "--json",
      JSON.stringify(create.body),
      `${base}/api/v1/datasets/0198b0de/annotation-sets`,
    ]);
  });

  it("names the method when curl would choose another one", () => {
    const remove: ApiCall = { method: "DELETE", path: "/x", params: {} };
    const publish: ApiCall = { method: "POST", path: "/x", params: {} };
    expect(argumentsOf(curlOf(remove, base)).slice(0, 2)).toEqual(["-X", "DELETE"]);
    expect(argumentsOf(curlOf(publish, base)).slice(0, 2)).toEqual(["-X", "POST"]);
  });
});

describe("the program", () => {
  it("makes the same request with the typed client", async () => {
    const code = clientCodeOf(create, base)
      .split("\n")
      .filter((line) => !line.startsWith("import "))
      .join("\n")
      .replaceAll("env.API_KEY", "'pl_1'");
    const seen: unknown[] = [];
    const makeClient = (options: unknown) => ({ POST: (...args: unknown[]) => [options, ...args] });
    await new Function("makeClient", "body", "seen", `return (async () => { ${code}; })()`)(
      makeClient,
      (call: unknown) => seen.push(call),
      seen,
    );
    expect(seen).toEqual([
      [
        { baseUrl: base, apiKey: "pl_1" },
        create.path,
        {
          params: { path: { dataset_id: "0198b0de" }, header: { "Idempotency-Key": "a'b" } },
          body: create.body,
        },
      ],
    ]);
  });

  it("leaves out what is empty", () => {
    expect(clientCodeOf({ method: "GET", path: "/api/v1/usage", params: {} }, base)).toContain(
      'client.GET("/api/v1/usage"));',
    );
  });
});
