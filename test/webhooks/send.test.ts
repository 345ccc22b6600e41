// One delivery attempt: its target, its trust in certificates, and its result for every kind of answer. Only ports 443
// and 8443 are permitted, so the receivers here listen on 8443 of several loopback addresses, which the tests declare
// public.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SendDeps, send } from "../../src/webhooks/send.ts";
import {
  type Answering,
  answering,
  type Certificate,
  makeCertificate,
  type Receiver,
  startReceiver,
} from "../support/receiver.ts";

const name = "hooks.example.com";
const url = `https://${name}:8443/hook?x=1`;
const [own, other] = ["127.77.0.1", "127.77.0.2"] as const;

let tls: Certificate;
let receiver: Receiver;
let decoy: Receiver;
let answer: Answering = answering(204);

beforeAll(async () => {
  tls = makeCertificate(name);
  receiver = await startReceiver((...args) => answer(...args), { tls, host: own, port: 8443 });
  decoy = await startReceiver(answering(200), { tls, host: other, port: 8443 });
});
afterAll(async () => {
  await receiver?.stop();
  await decoy?.stop();
});

function deps(more: Partial<SendDeps> = {}): SendDeps {
  return {
    resolve: async () => [own],
    allowed: new Set(),
    isPublic: (address) => address === own,
    clock: { now: Date.now },
    timeoutMs: 3_000,
    ca: tls.ca,
    ...more,
  };
}
const message = { url, headers: { "webhook-id": "evt_1" }, body: '{"type":"ä"}' };
const failure = (error: string) => ({ status: null, error, retryAfterMs: null });

describe("an attempt", () => {
  it("posts the exact body, with its headers, to the host name of the certificate", async () => {
    answer = answering(204);
    expect(await send(message, deps())).toEqual({ status: 204, error: null, retryAfterMs: null });
    const got = receiver.received.at(-1);
    expect(got).toMatchObject({ path: "/hook?x=1", body: '{"type":"ä"}' });
    expect(got?.headers).toMatchObject({
      host: `${name}:8443`,
      "content-type": "application/json",
      "content-length": "13",
      "webhook-id": "evt_1",
    });
    expect(Object.keys(got?.headers ?? {})).not.toContain("cookie");
  });

  it.each([
    [200, null],
    [201, null],
    [299, null],
    [300, "redirect"],
    [304, "redirect"],
    [400, "status"],
    [404, "status"],
    [410, "status"],
    [429, "status"],
    [500, "status"],
    [503, "status"],
  ])("that is answered with %i has the result %s", async (status, error) => {
    answer = answering(status);
    expect(await send(message, deps())).toEqual({ status, error, retryAfterMs: null });
  });

  it("reports the receiver's Retry-After", async () => {
    answer = answering(429, { "Retry-After": "120" });
    expect((await send(message, deps())).retryAfterMs).toBe(120_000);
    answer = answering(503, { "Retry-After": new Date(Date.now() + 60_000).toUTCString() });
    expect((await send(message, deps())).retryAfterMs).toBeGreaterThan(50_000);
    answer = answering(429, { "Retry-After": "soon" });
    expect((await send(message, deps())).retryAfterMs).toBeNull();
  });

  it("follows no redirect to any target", async () => {
    const before = decoy.received.length;
    for (const location of [
      `https://${other}:8443/`,
      "http://169.254.169.254/",
      `https://${name}:8443/again`,
    ]) {
      answer = answering(307, { Location: location });
      const hits = receiver.received.length;
      expect((await send(message, deps())).error).toBe("redirect");
      expect(receiver.received.length).toBe(hits + 1);
    }
    expect(decoy.received.length).toBe(before);
  });

  it("reads neither a long answer nor the slow end of one that has begun", async () => {
    let sent = 0;
    answer = (_, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    };
    expect((await send(message, deps())).error).toBeNull();
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    answer = (_, response) => response.writeHead(200).write("x");
    expect(await send(message, deps())).toMatchObject({ status: 200, error: null });
  });

  it("ends at its time limit in every phase of the request", async () => {
    answer = () => {};
    expect(await send(message, deps({ timeoutMs: 200 }))).toEqual(failure("timeout"));
    const never = deps({ timeoutMs: 200, resolve: () => new Promise(() => {}) });
    expect(await send(message, never)).toEqual(failure("timeout"));
  });

  it("fails on overlong headers, on malformed HTTP, and when nothing listens", async () => {
    answer = answering(200, { "X-Long": "x".repeat(20_000) });
    expect(await send(message, deps())).toEqual(failure("protocol"));
    answer = (_, __, raw) => raw.socket.end("hello\r\n\r\n");
    expect(await send(message, deps())).toEqual(failure("protocol"));
    answer = (_, __, raw) => raw.socket.destroy();
    expect(await send(message, deps())).toEqual(failure("connection"));
    const nobody = deps({ resolve: async () => ["127.77.0.9"], isPublic: () => true });
    expect(await send(message, nobody)).toEqual(failure("connection"));
  });

  it("rejects a certificate of another name or of an unknown authority", async () => {
    answer = answering(200);
    const hits = receiver.received.length;
    const another = { ...message, url: url.replace(name, "other.example.com") };
    expect(await send(another, deps())).toEqual(failure("tls"));
    expect(await send(message, deps({ ca: undefined }))).toEqual(failure("tls"));
    expect(receiver.received.length).toBe(hits);
  });
});

describe("the address of a host name", () => {
  it("is resolved once per attempt, and the socket connects to exactly that address", async () => {
    answer = answering(200);
    let asked = 0;
    // DNS rebinding: a second look-up would return another server.
    const resolve = async () => (asked++ === 0 ? [own] : [other]);
    const before = decoy.connections();
    expect((await send(message, deps({ resolve, isPublic: () => true }))).status).toBe(200);
    expect(asked).toBe(1);
    expect(decoy.connections()).toBe(before);
  });

  it("is resolved again for the next attempt, which is refused if the name now has an internal address", async () => {
    answer = answering(200);
    const [hits, before] = [receiver.connections(), decoy.connections()];
    let asked = 0;
    const rebinding = deps({ resolve: async () => (asked++ === 0 ? [own] : [other]) });
    expect((await send(message, rebinding)).status).toBe(200);
    expect(await send(message, rebinding)).toEqual(failure("address"));
    expect([receiver.connections(), decoy.connections()]).toEqual([hits + 1, before]);
  });

  it.each([
    ["one of several addresses is not public", [own, other]],
    ["the only address is not public", [other]],
    ["the name has no address", []],
  ])("fails the attempt when %s", async (_, addresses) => {
    const before = [receiver.connections(), decoy.connections()];
    expect(await send(message, deps({ resolve: async () => addresses }))).toEqual(failure("address"));
    expect([receiver.connections(), decoy.connections()]).toEqual(before);
  });

  it("that cannot be resolved fails the attempt like a forbidden one", async () => {
    const broken = deps({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
    expect(await send(message, broken)).toEqual(failure("address"));
  });

  it("is not even resolved for a URL that would be refused at registration today", async () => {
    let asked = 0;
    const resolve = async () => [own, String(asked++)];
    for (const bad of ["http://hooks.example.com/", "https://127.0.0.1/", "https://hooks.example.com:22/"])
      expect(await send({ ...message, url: bad }, deps({ resolve }))).toEqual(failure("address"));
    expect(asked).toBe(0);
  });

  it("is unrestricted for an origin that an administrator allows, and only for that", async () => {
    const inner = await startReceiver(answering(200));
    try {
      const allowed = new Set([inner.origin]);
      const own = { ...message, url: `${inner.origin}/x` };
      expect((await send(own, deps({ allowed, isPublic: () => false }))).status).toBe(200);
      expect(await send(own, deps({ isPublic: () => true }))).toEqual(failure("address"));
      const named = `http://localhost:${inner.port}`;
      expect((await send({ ...own, url: named }, deps({ allowed: new Set([named]) }))).status).toBe(200);
    } finally {
      await inner.stop();
    }
  });
});
