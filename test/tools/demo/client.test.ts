// The demo's client against a server that misbehaves on purpose: what is tried again, and what must not be.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ApiError, makeClient } from "../../../tools/demo/client.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return makeClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: "pl_test",
    patienceMs: 5_000,
  });
}

const id = "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11";
const json = (body: unknown) => JSON.stringify(body);

test("sends the key and reads all pages of a list", async () => {
  const asked: string[] = [];
  const client = await serve((request, response) => {
    asked.push(`${request.headers["x-api-key"]} ${request.url}`);
    const last = request.url?.includes("page=2");
    const item = { inference_file_id: id, artifact_type: "hum", start_ms: 0, end_ms: 9, confidence: 0.5 };
    response.end(json({ items: [item], total: 2, has_more: !last }));
  });
  expect(await client.listDetections(id)).toHaveLength(2);
  expect(asked).toEqual([
    `pl_test /api/v1/inference-jobs/${id}/detections?page=1&page_size=100`,
    `pl_test /api/v1/inference-jobs/${id}/detections?page=2&page_size=100`,
  ]);
});

test("a GET is tried again while the service restarts, and after 429", async () => {
  let calls = 0;
  const client = await serve((request, response) => {
    calls += 1;
    if (calls === 1) return request.socket.destroy();
    response.statusCode = calls === 2 ? 503 : calls === 3 ? 429 : 200;
    response.setHeader("Retry-After", "0");
    response.end(json(calls < 4 ? { detail: "later" } : { series: [] }));
  });
  expect(await client.getTrainingMetrics(id)).toEqual({ series: [] });
  expect(calls).toBe(4);
});

test("a POST that broke off is not sent again: it may have been carried out", async () => {
  let calls = 0;
  const client = await serve((request) => {
    calls += 1;
    request.socket.destroy();
  });
  await expect(client.createDataset("d", ["hum"])).rejects.toThrow(/POST .*datasets got no answer/);
  expect(calls).toBe(1);
});

test.each([
  { name: "a string", body: { detail: "Dataset not found" }, status: 404, says: "Dataset not found" },
  {
    name: "a list of faulty fields",
    body: { detail: [{ loc: ["body", "config", "epochs"], msg: "too many", type: "less_than_equal" }] },
    status: 422,
    says: "body.config.epochs: too many",
  },
  { name: "no JSON", body: undefined, status: 502, says: "POST" },
])("a problem with $name is told in the API's words", async ({ body, status, says }) => {
  const client = await serve((_, response) => {
    response.statusCode = status;
    response.end(body === undefined ? "<html>" : json(body));
  });
  const error = await client.createDataset("d", []).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status });
  expect(String(error)).toContain(says);
});

test("an answer without a member that the specification promises is refused, with the member's name", async () => {
  const client = await serve((_, response) => response.end(json({ id, status: "running" })));
  await expect(client.getTrainingJob(id)).rejects.toThrow(/progress_percent/);
});
