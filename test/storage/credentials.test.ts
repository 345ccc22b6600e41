// Temporary credentials: those of a pod's workload identity, which the SDK fetches and which end.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { makeStorage, type Storage } from "../../src/storage/storage.ts";
import { useStorage } from "../support/s3.ts";

const store = useStorage();
/** How long the next credentials are valid. */
let minutes = 60;
/** versitygw accepts no session tokens. That they are signed as the SDK does is shown by presign.test.ts. */
let hasToken = false;
let issued = 0;
let isDown = false;
// The endpoint that a container platform offers its pods.
const source = createServer((_, response) => {
  if (isDown) return void response.writeHead(500).end();
  issued += 1;
  const { PLOSIVE_S3_ACCESS_KEY_ID: AccessKeyId, PLOSIVE_S3_SECRET_ACCESS_KEY: SecretAccessKey } =
    store.config;
  const Expiration = new Date(Date.now() + minutes * 60_000).toISOString();
  response.setHeader("Content-Type", "application/json");
  const Token = hasToken ? `session-${issued}` : "";
  response.end(JSON.stringify({ AccessKeyId, SecretAccessKey, Token, Expiration }));
});
let storage: Storage;

beforeAll(async () => {
  await new Promise<void>((resolve) => source.listen(0, "127.0.0.1", resolve));
  const { port } = source.address() as AddressInfo;
  vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `http://127.0.0.1:${port}/credentials`);
});
afterAll(() => {
  vi.unstubAllEnvs();
  source.close();
});
beforeEach(() => {
  issued = 0;
  isDown = false;
  const { PLOSIVE_S3_ACCESS_KEY_ID: _, PLOSIVE_S3_SECRET_ACCESS_KEY: __, ...config } = store.config;
  storage = makeStorage(config);
});
afterEach(() => storage.close());

const urlOf = () => storage.presignGet("spoken", { expiresSeconds: 600, audience: "client" });
const tokenOf = (url: string) => new URL(url).searchParams.get("X-Amz-Security-Token");

it("are fetched once, and read, write and presign", async () => {
  [minutes, hasToken] = [60, false];
  await storage.write("spoken", "words");
  expect(await (await fetch(await urlOf())).text()).toBe("words");
  expect(issued).toBe(1);
});

it("are renewed when URLs would end with them, but not for each URL if the source has none that last longer", async () => {
  [minutes, hasToken] = [20, true];
  expect(tokenOf(await urlOf())).toBe("session-2");
  const form = await storage.presignPost({
    key: "form",
    contentType: "audio/wav",
    sizeBytes: 5,
    checksumSha256: null,
    metadata: {},
    expiresSeconds: 600,
  });
  expect(form.fields["X-Amz-Security-Token"]).toBe("session-2");
  expect(issued).toBe(2);
});

it("sign while they are valid, although their source fails", async () => {
  [minutes, hasToken] = [60, true];
  expect(tokenOf(await urlOf())).toBe("session-1");
  isDown = true;
  vi.useFakeTimers({ now: Date.now() + 40 * 60_000, toFake: ["Date"] });
  try {
    expect(tokenOf(await urlOf())).toBe("session-1");
  } finally {
    vi.useRealTimers();
  }
});
