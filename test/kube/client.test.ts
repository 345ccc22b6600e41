// The Kubernetes client against a server that fails on purpose, in ways that a healthy API server
// does not. The tests in test/controllers use a real one.
import { getEventListeners, once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { kubeOf } from "../../src/kube/client.ts";
import type { Credentials } from "../../src/kube/config.ts";
import {
  isAlreadyExists,
  isConflict,
  isDenied,
  isExpired,
  isInvalid,
  isNotFound,
  isUnreachable,
  KubeError,
} from "../../src/kube/errors.ts";
import { jobs, leases } from "../../src/kube/kinds.ts";
import { useFailingKube } from "../support/failing-kube.ts";
import { poll } from "../support/poll.ts";

const start = useFailingKube();
const serve = async (...given: Parameters<typeof start>) => (await start(...given)).kube;
const ref = { namespace: "n", name: "x" };
const status = (code: number, reason: string) =>
  JSON.stringify({ kind: "Status", code, reason, message: "no" });

describe("the client", () => {
  it("reuses its connection", async () => {
    const sockets = new Set<number | undefined>();
    const client = await serve((request, response) => {
      sockets.add(request.socket.remotePort);
      response.end("{}");
    });
    for (let n = 0; n < 20; n++) await client.get(jobs, ref);
    expect(sockets.size).toBe(1);
  });

  it("sends an urgent request past requests that get no answer", async () => {
    let hanging = 0;
    const client = await serve((request, response) => {
      if (request.url?.includes("/leases/")) response.end("{}");
      else hanging++;
    });
    const stuck = Array.from({ length: 200 }, () => client.get(jobs, ref, { timeoutMs: 60_000 }));
    // They end with the server.
    void Promise.allSettled(stuck);
    await poll("the connections to be taken", async () => hanging === 64);
    await client.get(leases, ref, { timeoutMs: 2_000, urgent: true });
    // The others wait for a connection longer than this request may take.
    await expect(client.get(leases, ref, { timeoutMs: 200 })).rejects.toThrow("timed out after 200 ms");
  });

  it("waits as long as the Retry-After of a 429, and repeats even a create", async () => {
    let calls = 0;
    const client = await serve((_request, response) => {
      calls++;
      if (calls > 1) return void response.writeHead(201).end("{}");
      response.writeHead(429, { "retry-after": "1" }).end(status(429, "TooManyRequests"));
    });
    const began = performance.now();
    await client.create(leases, { metadata: ref });
    expect(calls).toBe(2);
    expect(performance.now() - began).toBeGreaterThan(900);
  });

  it("waits a second at most before it repeats an urgent request", async () => {
    let calls = 0;
    const client = await serve((_request, response) => {
      calls++;
      if (calls > 3) return void response.end("{}");
      response.writeHead(429, { "retry-after": "10" }).end(status(429, "TooManyRequests"));
    });
    // The test's limit is nine seconds: a single pause as long as the Retry-After exceeds it.
    await client.get(leases, ref, { urgent: true });
    expect(calls).toBe(4);
  }, 9_000);

  it("ends the pause after a 429 when its signal is aborted", async () => {
    const client = await serve(
      (_request, response) =>
        void response.writeHead(429, { "retry-after": "10" }).end(status(429, "TooManyRequests")),
    );
    const caller = new AbortController();
    const sent = client.send({ method: "GET", path: "/x", signal: caller.signal });
    const failed = expect(sent).rejects.toMatchObject({ status: 429 });
    await poll("the pause", () => getEventListeners(caller.signal, "abort").length > 0, 5_000);
    caller.abort();
    await failed;
  }, 9_000);

  it.each<[string, RequestListener, (() => Promise<Credentials>)?]>([
    ["of a server that does not answer", () => undefined],
    ["of a response without an end", (_request, response) => response.writeHead(200).flushHeaders()],
    ["of credentials that never come", () => undefined, () => new Promise(() => {})],
  ])("reports an unreachable server and the limit %s", async (_, handle, credentials) => {
    const client = await serve(handle, credentials);
    const error = await client.get(jobs, ref, { timeoutMs: 100 }).catch((caught: unknown) => caught);
    expect(isUnreachable(error)).toBe(true);
    expect(String(error)).toContain("(timed out after 100 ms)");
  });

  it("gives up a request whose signal is aborted while the credentials are read and no connection is free", async () => {
    let hanging = 0;
    let given = Promise.withResolvers<Credentials>();
    given.resolve({ headers: {} });
    const client = await serve(
      () => void hanging++,
      () => given.promise,
    );
    const stuck = Array.from({ length: 64 }, () => client.get(jobs, ref, { timeoutMs: 60_000 }));
    void Promise.allSettled(stuck);
    await poll("the connections to be taken", () => hanging === 64);
    given = Promise.withResolvers();
    const caller = new AbortController();
    const sent = client.send({ method: "GET", path: "/x", signal: caller.signal, timeoutMs: 60_000 });
    const failed = expect(sent).rejects.toThrow("no answer from the API server (given up)");
    given.resolve({ headers: {} });
    caller.abort(new Error("given up"));
    await failed;
  }, 9_000);

  it("lets a request end on its connection when the certificates change, and closes the connections then", async () => {
    const posts: ServerResponse[] = [];
    let ca = "old";
    const { kube: client, server } = await start(
      (request, response) => {
        if (request.method === "POST") posts.push(response);
        else response.end("{}");
      },
      async () => ({ ca, headers: {} }),
    );
    const closed: Promise<unknown>[] = [];
    server.on("connection", (socket) => closed.push(once(socket, "close")));
    // The server itself closes no idle connection.
    server.keepAliveTimeout = 0;
    // The create takes over the connection of one of these.
    await Promise.all([client.get(leases, ref), client.get(leases, ref)]);
    const created = client.create(leases, { metadata: ref });
    const post = await poll("the create", () => posts[0]);
    const old = closed.splice(0);
    expect(old).toHaveLength(2);
    ca = "new";
    await client.get(leases, ref);
    await Promise.race(old);
    post.writeHead(201).end("{}");
    await created;
    expect(posts).toHaveLength(1);
    await Promise.all(old);
  }, 9_000);

  it.each([
    [404, "NotFound", isNotFound],
    [409, "AlreadyExists", isAlreadyExists],
    [409, "Conflict", isConflict],
    [410, "Expired", isExpired],
    [400, "BadRequest", isInvalid],
    [403, "Forbidden", isDenied],
    // An admission policy and a webhook, which name no fields.
    [422, "Invalid", isDenied],
    [400, "", isDenied],
    [503, "ServiceUnavailable", isUnreachable],
  ])("recognizes a %i %s", async (code, reason, is) => {
    const client = await serve(
      (_request, response) => void response.writeHead(code).end(status(code, reason)),
    );
    const error = await client.get(jobs, ref).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(KubeError);
    expect(is(error)).toBe(true);
    expect(
      [isNotFound, isAlreadyExists, isConflict, isExpired, isInvalid, isDenied, isUnreachable].filter(
        (kind) => kind(error),
      ),
    ).toHaveLength(1);
  });

  it("recognizes an object that the API server itself finds invalid by the fields that it names", async () => {
    const causes = [{ reason: "FieldValueInvalid", field: "spec.parallelism", message: "must be positive" }];
    const said = { kind: "Status", status: "Failure", code: 422, reason: "Invalid", details: { causes } };
    const client = await serve(
      (_request, response) => void response.writeHead(422).end(JSON.stringify(said)),
    );
    const error = await client.get(jobs, ref).catch((caught: unknown) => caught);
    expect([isInvalid(error), isDenied(error)]).toEqual([true, false]);
  });

  it("reports an unreachable server when a proxy answers with an HTML page", async () => {
    const client = await serve((_request, response) => void response.end("<html>log in</html>"));
    const error = await client.get(jobs, ref).catch((caught: unknown) => caught);
    expect(isUnreachable(error)).toBe(true);
    expect(String(error)).toContain("<html>log in");
  });

  it("reports an unreachable server when nothing listens on the port", async () => {
    const client = kubeOf({ server: "http://127.0.0.1:9", credentials: async () => ({ headers: {} }) });
    expect(isUnreachable(await client.get(jobs, ref).catch((caught: unknown) => caught))).toBe(true);
    client.close();
  });
});
