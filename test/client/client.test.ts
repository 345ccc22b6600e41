// The typed client against a server that fails on purpose: which requests it retries and which it must not retry.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { allItems, body, makeClient } from "../../client/client.ts";
import { ApiError } from "../../client/error.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(answer: RequestListener, retryForMs = 5_000) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return makeClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "pl_test", retryForMs });
}

const id = "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11";

/** Answers the n-th request with the n-th entry; `break` closes the connection. */
function script(...answers: ("break" | { status: number; retryAfter?: string; body?: unknown })[]) {
  const seen: { method: string; url: string; key: string; text: string }[] = [];
  const listener: RequestListener = async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { method = "", url = "" } = request;
    const answer = answers[Math.min(seen.length, answers.length - 1)];
    seen.push({ method, url, key: String(request.headers["x-api-key"]), text });
    if (answer === undefined || answer === "break") {
      request.socket.destroy();
      return;
    }
    response.statusCode = answer.status;
    response.setHeader("Content-Type", "application/json");
    if (answer.retryAfter !== undefined) response.setHeader("Retry-After", answer.retryAfter);
    response.end(JSON.stringify(answer.body ?? { detail: "later" }));
  };
  return { seen, listener };
}

const makeDataset = (client: Awaited<ReturnType<typeof serve>>, key?: string) =>
  body(
    client.POST("/api/v1/datasets", {
      body: { name: "d" },
      params: { header: key === undefined ? {} : { "Idempotency-Key": key } },
    }),
  );

test("the client sends the key and reads all pages of a list", async () => {
  const page = (has_more: boolean) => ({ status: 200, body: { items: [{ id }], total: 2, has_more } });
  const { seen, listener } = script(page(true), page(false));
  const client = await serve(listener);
  const items = await allItems((query) => client.GET("/api/v1/datasets", { params: { query } }));
  expect(items).toHaveLength(2);
  expect(seen.map(({ key, url }) => `${key} ${url}`)).toEqual([
    "pl_test /api/v1/datasets?page=1&page_size=100",
    "pl_test /api/v1/datasets?page=2&page_size=100",
  ]);
});

describe("the client retries", () => {
  const later = { status: 503, retryAfter: "0" };
  const limited = { status: 429, retryAfter: "0" };

  test("a GET while the service restarts, and after 429", async () => {
    const { seen, listener } = script("break", later, limited, { status: 200, body: { series: [] } });
    const client = await serve(listener);
    const path = { training_job_id: id };
    const call = client.GET("/api/v1/training-jobs/{training_job_id}/metrics", { params: { path } });
    expect(await body(call)).toEqual({ series: [] });
    expect(seen).toHaveLength(4);
  });

  test("a POST with an Idempotency-Key, with the same body", async () => {
    const { seen, listener } = script("break", later, { status: 201, body: { id } });
    expect(await makeDataset(await serve(listener), "once")).toEqual({ id });
    expect(seen.map(({ text }) => text)).toEqual(Array(3).fill('{"name":"d"}'));
  });

  test("a POST without a key after 429 with Retry-After, since the server did not execute it", async () => {
    const { seen, listener } = script(limited, { status: 201, body: { id } });
    expect(await makeDataset(await serve(listener))).toEqual({ id });
    expect(seen).toHaveLength(2);
  });
});

describe("the client does not retry", () => {
  test("a POST without a key whose connection broke, since the server may have executed it", async () => {
    const { seen, listener } = script("break");
    await expect(makeDataset(await serve(listener))).rejects.toThrow(/POST .*datasets got no response/);
    expect(seen).toHaveLength(1);
  });

  test("a POST without a key after 503", async () => {
    const { seen, listener } = script({ status: 503, retryAfter: "0" });
    await expect(makeDataset(await serve(listener))).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(1);
  });

  test("a request that exceeds a quota, since waiting does not help", async () => {
    const { seen, listener } = script({ status: 429, body: { detail: "too many", code: "quota_exceeded" } });
    await expect(makeDataset(await serve(listener))).rejects.toMatchObject({ code: "quota_exceeded" });
    expect(seen).toHaveLength(1);
  });

  test("a request whose Retry-After is later than the end of the retries", async () => {
    const { seen, listener } = script({ status: 503, retryAfter: "20" });
    const client = await serve(listener, 1_000);
    await expect(body(client.GET("/api/v1/models"))).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(1);
  });

  test("a request that the caller aborted", async () => {
    const { seen, listener } = script({ status: 503, retryAfter: "1" });
    const end = new AbortController();
    const client = await serve((request, response) => {
      // The client waits for its second attempt then.
      response.once("close", () => setTimeout(() => end.abort(), 100));
      return listener(request, response);
    });
    const call = client.GET("/api/v1/models", { signal: end.signal });
    await expect(body(call)).rejects.toBeInstanceOf(Error);
    expect(seen).toHaveLength(1);
  });
});

test.each([
  { name: "a string", given: { detail: "Dataset not found" }, status: 404, says: "Dataset not found" },
  {
    name: "a list of faulty fields",
    given: { detail: [{ loc: ["body", "config", "epochs"], msg: "too many", type: "less_than_equal" }] },
    status: 422,
    says: "body.config.epochs: too many",
  },
  { name: "the page of a proxy", given: "<html>", status: 502, says: "html" },
])("an error with $name has the message of the server that answered", async ({ given, status, says }) => {
  const { listener } = script({ status, body: given });
  const error = await makeDataset(await serve(listener)).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status });
  expect(String(error)).toContain(says);
});

test("an error lists every failed precondition, and no others have any", async () => {
  const errors = [
    { code: "not_enough_audio", message: "too little" },
    { code: "no_annotations", message: "no labels" },
  ];
  const refusals = [
    { detail: "too little; no labels", code: "not_enough_audio", errors },
    { detail: "gone" },
  ];
  const { listener } = script(...refusals.map((body) => ({ status: 409, body })));
  const client = await serve(listener);
  const refused = () => makeDataset(client).catch((caught: unknown) => caught);
  expect(await refused()).toMatchObject({ errors });
  expect(await refused()).toMatchObject({ errors: [] });
});
