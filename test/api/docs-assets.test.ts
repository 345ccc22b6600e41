// The assets of /docs: their types, and a file that could not be read once.
import * as files from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { docsPage } from "../../src/api/docs-page.ts";

vi.mock("node:fs/promises", { spy: true });

const app = new Koa().use(docsPage(true));
app.silent = true;
const server = createServer(app.callback());
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

it.each([
  ["", "text/html; charset=utf-8"],
  ["/start.js", "text/javascript; charset=utf-8"],
  ["/page.css", "text/css; charset=utf-8"],
])("/docs%s has the type %s", async (path, type) => {
  const answer = await fetch(`${url}/docs${path}`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
});

it("an asset that could not be read is read again by the next request", async () => {
  vi.mocked(files.readFile).mockRejectedValueOnce(new Error("EMFILE: too many open files"));
  const statusOf = async () => (await fetch(`${url}/docs/swagger-ui.css`)).status;
  expect([await statusOf(), await statusOf()]).toEqual([500, 200]);
});
