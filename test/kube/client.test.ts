// The Kubernetes client and the reflector against a server that fails on purpose, in ways that a healthy API server
// does not. The tests in test/controllers use a real one.
import { getEventListeners, once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { startReflector } from "../../controllers/runtime/reflector.ts";
import { Store } from "../../controllers/runtime/store.ts";
import { type Kube, kubeOf } from "../../src/kube/client.ts";
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
import type { KubeObject } from "../../src/kube/objects.ts";
import { type Log, makeLog } from "../../src/log.ts";
import { poll } from "../support/poll.ts";

let server: Server | undefined;
let kube: Kube | undefined;
afterEach(async () => {
  kube?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
  server = undefined;
});

async function serve(
  handle: RequestListener,
  credentials: () => Promise<Credentials> = async () => ({ headers: {} }),
): Promise<Kube> {
  server = createServer(handle);
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  kube = kubeOf({ server: `http://127.0.0.1:${port}`, credentials });
  return kube;
}
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
    const client = await serve(
      (request, response) => {
        if (request.method === "POST") posts.push(response);
        else response.end("{}");
      },
      async () => ({ ca, headers: {} }),
    );
    const closed: Promise<unknown>[] = [];
    server?.on("connection", (socket) => closed.push(once(socket, "close")));
    // The server itself closes no idle connection.
    server!.keepAliveTimeout = 0;
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
    kube = client;
    expect(isUnreachable(await client.get(jobs, ref).catch((caught: unknown) => caught))).toBe(true);
  });
});

const object = (name: string, version: number): KubeObject => ({
  metadata: { name, namespace: "n", uid: name, resourceVersion: String(version) },
});

describe("the reflector", () => {
  const start = (client: Kube, inactivityMs = 5_000, log = makeLog("test", "silent")) => {
    const store = new Store<KubeObject>();
    const options = {
      kube: client,
      type: jobs,
      namespace: "n",
      store,
      log,
      random: () => 0.5,
      maxBackoffMs: 50,
      pageSize: 2,
      inactivityMs,
    };
    return { store, reflector: startReflector<KubeObject>({ ...options, type: jobs as never }) };
  };

  const say = (response: ServerResponse, type: string, said: unknown) =>
    response.write(`${JSON.stringify({ type, object: said })}\n`);
  const endOfPresent = (version: number) => {
    const { metadata } = object("", version);
    return { metadata: { ...metadata, annotations: { "k8s.io/initial-events-end": "true" } } };
  };
  /** What an API server before Kubernetes 1.32, and 1.33, answers. */
  const refuseStream = (response: ServerResponse) => {
    const causes = [{ reason: "FieldValueForbidden", field: "sendInitialEvents" }];
    const said = { kind: "Status", code: 422, reason: "Invalid", message: "no", details: { causes } };
    response.writeHead(422).end(JSON.stringify(said));
  };

  it("has all objects at the end of those that a watch begins with, and begins anew after a 410", async () => {
    const calls: (string | null)[] = [];
    const sizes: number[] = [];
    const client = await serve((request, response) => {
      const query = new URL(request.url ?? "/", "http://x").searchParams;
      calls.push(query.get("sendInitialEvents") ?? query.get("resourceVersion"));
      if (calls.length === 2) {
        say(response, "ERROR", { code: 410, reason: "Expired", message: "too old" });
        return void response.end();
      }
      for (const name of ["a", "b", "c"]) say(response, "ADDED", object(name, 1));
      say(response, "MODIFIED", object("a", 6));
      say(response, "DELETED", object("b", 7));
      say(response, "BOOKMARK", object("", 7));
      setTimeout(() => {
        sizes.push(store.size);
        say(response, "BOOKMARK", endOfPresent(8));
        say(response, "ADDED", object("d", 9));
        if (calls.length === 1) setTimeout(() => response.destroy(), 20);
      }, 20);
    });
    const { store, reflector } = start(client);
    await reflector.synced;
    expect([...store.values()].map(({ metadata }) => metadata.name).slice(0, 2)).toEqual(["a", "c"]);
    expect(store.get("a")?.metadata.resourceVersion).toBe("6");
    await poll("the third watch", () => calls.length === 3 && reflector.relists() === 2);
    expect(calls).toEqual(["true", "9", "true"]);
    // Nothing is stored before the end of the first list.
    expect(sizes[0]).toBe(0);
    await poll("the event after the list", () => store.get("d") !== undefined);
    await reflector.stop();
  });

  it("lists in pages after two watches that did not bring all objects", async () => {
    const calls: string[] = [];
    const client = await serve((request, response) => {
      const query = new URL(request.url ?? "/", "http://x").searchParams;
      calls.push(query.get("watch") === null ? "list" : `watch ${query.get("resourceVersion") ?? ""}`);
      // As while the API server starts.
      if (calls.length === 1) return void response.writeHead(429).end();
      if (calls.length === 3)
        return void response.end(
          JSON.stringify({ items: [object("b", 3)], metadata: { resourceVersion: "5" } }),
        );
      say(response, "ADDED", object("a", 1));
      if (calls.length === 2) response.end();
    });
    const { store, reflector } = start(client);
    await reflector.synced;
    expect([...store.values()].map(({ metadata }) => metadata.name)).toEqual(["b"]);
    await poll("the next watch", () => calls.length === 4);
    expect(calls).toEqual(["watch ", "watch ", "list", "watch 5"]);
    await reflector.stop();
  });

  it("lists in pages where it must, resumes a watch from its last bookmark, and lists again only after a 410", async () => {
    const calls: string[] = [];
    let expire = false;
    let watches = 0;
    const client = await serve((request, response) => {
      const query = new URL(request.url ?? "/", "http://x").searchParams;
      if (query.get("watch") === null) {
        const next = query.get("continue");
        calls.push(`list ${next ?? ""}`);
        const page =
          next === null
            ? { items: [object("a", 1), object("b", 2)], metadata: { continue: "2" } }
            : { items: [object("c", 3)], metadata: { resourceVersion: "5" } };
        return void response.end(JSON.stringify(page));
      }
      if (query.get("sendInitialEvents") === "true") {
        calls.push("stream");
        return refuseStream(response);
      }
      watches++;
      calls.push(`watch ${query.get("resourceVersion")}`);
      if (watches === 1) {
        say(response, "MODIFIED", object("a", 6));
        say(response, "BOOKMARK", object("", 9));
        // The connection breaks in the middle of a line.
        response.write('{"type":"ADD');
        return void setTimeout(() => response.destroy(), 20);
      }
      if (watches === 2) {
        expire = true;
        say(response, "ERROR", { code: 410, reason: "Expired", message: "too old" });
        return void response.end();
      }
      say(response, "DELETED", object("b", 12));
    });
    const warnings: unknown[] = [];
    const log = { warn: (details: unknown) => warnings.push(details) } as unknown as Log;
    const { store, reflector } = start(client, 5_000, log);
    await reflector.synced;
    // A server that does not offer WatchList is no failure.
    expect(warnings).toEqual([]);
    await poll("the third watch's deletion", () => store.get("b") === undefined);
    expect(expire).toBe(true);
    expect(calls).toEqual([
      "stream",
      "list ",
      "list 2",
      "watch 5",
      "watch 9",
      "stream",
      "list ",
      "list 2",
      "watch 5",
    ]);
    // The version of the new list, although it is older: the cluster may have been restored.
    expect(store.get("a")?.metadata.resourceVersion).toBe("1");
    expect(reflector.relists()).toBe(2);
    await reflector.stop();
  });

  it("replaces a watch that has become silent, as on a half-open connection, without a new list", async () => {
    let watches = 0;
    const client = await serve((request, response) => {
      const url = request.url ?? "";
      // On a busy machine the first watch may be too late, too.
      if (!url.includes("watch=true"))
        return void response.end(JSON.stringify({ items: [], metadata: { resourceVersion: "1" } }));
      response.writeHead(200);
      response.flushHeaders();
      if (url.includes("sendInitialEvents=true")) say(response, "BOOKMARK", endOfPresent(1));
      else watches++;
    });
    const { reflector } = start(client, 100);
    await poll("another watch", () => watches >= 2);
    expect(reflector.relists()).toBe(1);
    await reflector.stop();
  });

  it("stops at once, even during a backoff", async () => {
    let calls = 0;
    const client = await serve((_request, response) => {
      calls++;
      response.writeHead(500, { "retry-after": "60" }).end("broken");
    });
    let waits = 0;
    const { reflector } = start(client, 5_000, { warn: () => waits++ } as unknown as Log);
    await poll("the minute's wait to begin", () => waits === 1);
    // The test's limit is ten seconds: a stop that waits for the end of the minute exceeds it.
    await reflector.stop();
    expect(calls).toBe(1);
  }, 10_000);
});
