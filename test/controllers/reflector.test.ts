// The reflector against a server that fails on purpose, in ways that a healthy API server does not. runtime-faults.test.ts uses a
// real one.
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { startReflector } from "../../controllers/runtime/reflector.ts";
import { Store } from "../../controllers/runtime/store.ts";
import type { Kube } from "../../src/kube/client.ts";
import { jobs } from "../../src/kube/kinds.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { type Log, makeLog } from "../../src/log.ts";
import { useFailingKube } from "../support/failing-kube.ts";
import { poll } from "../support/poll.ts";

const startKube = useFailingKube();
const serve = async (...given: Parameters<typeof startKube>) => (await startKube(...given)).kube;

const object = (name: string, version: number): KubeObject => ({
  metadata: { name, namespace: "n", uid: name, resourceVersion: String(version) },
});

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
