// Verification of pod tokens against keys that the test makes: forged, expired and foreign tokens, and new keys.
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { KubeError } from "../../src/kube/errors.ts";
import {
  makePodTokenVerifier,
  signingKeysPath,
  UnverifiedTokenError,
  type VerifyPodToken,
} from "../../src/kube/pod-tokens.ts";

type Key = { kid: string; sign: CryptoKey; published: JWK };

async function makeKey(kid: string, alg = "ES256"): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  return { kid, sign: privateKey, published: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

const pod = { name: "tj-1-0-abcde", uid: "5c0f0f4e-0c38-4a0e-9a39-6a0d5b4a1a11" };
const claims = { "kubernetes.io": { namespace: "plosive", pod, serviceaccount: { name: "plosive-worker" } } };
const subject = "system:serviceaccount:plosive:plosive-worker";

type Parts = {
  audience?: string;
  subject?: string;
  claims?: object;
  expires?: string;
  notBefore?: string;
  alg?: string;
};
const tokenOf = (key: Key, parts: Parts = {}) =>
  new SignJWT({ ...(parts.claims ?? claims) })
    .setProtectedHeader({ alg: parts.alg ?? "ES256", kid: key.kid })
    .setAudience(parts.audience ?? "plosive-runs")
    .setSubject(parts.subject ?? subject)
    .setIssuedAt()
    .setNotBefore(parts.notBefore ?? "0s")
    .setExpirationTime(parts.expires ?? "1h")
    .sign(key.sign);

let key: Key;
let published: JWK[];
let requests: number;
let verify: VerifyPodToken;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  key = await makeKey("one");
  published = [key.published];
  requests = 0;
  verify = makePodTokenVerifier({
    kube: {
      async send({ path }) {
        requests++;
        if (path !== signingKeysPath || published.length === 0)
          throw new KubeError("no answer", { status: 0, reason: "Unreachable" });
        return { keys: published };
      },
    },
    namespace: "plosive",
    serviceAccount: "plosive-worker",
    audience: "plosive-runs",
  });
});
afterEach(() => vi.useRealTimers());

it("returns the pod of a token, and reads the keys once", async () => {
  for (let n = 0; n < 3; n++) expect(await verify(await tokenOf(key))).toEqual(pod);
  expect(requests).toBe(1);
});

it("accepts a token signed with RSA", async () => {
  const rsa = await makeKey("rsa", "RS256");
  published = [key.published, rsa.published];
  expect(await verify(await tokenOf(rsa, { alg: "RS256" }))).toEqual(pod);
});

it.each<[string, () => Promise<string>]>([
  ["signed with a key that is not published", async () => tokenOf(await makeKey("one"))],
  ["without a signature", async () => new UnsecuredJWT(claims).setSubject(subject).encode()],
  [
    "signed with the public key as a secret",
    async () => {
      const secret = new TextEncoder().encode(JSON.stringify(key.published));
      return new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", kid: "one" })
        .setAudience("plosive-runs")
        .setSubject(subject)
        .setExpirationTime("1h")
        .sign(secret);
    },
  ],
  ["for another audience", () => tokenOf(key, { audience: "https://kubernetes.default.svc" })],
  ["of another account", () => tokenOf(key, { subject: "system:serviceaccount:plosive:plosive-api" })],
  ["of another namespace", () => tokenOf(key, { subject: "system:serviceaccount:other:plosive-worker" })],
  ["that is bound to no pod", () => tokenOf(key, { claims: { "kubernetes.io": {} } })],
  ["without claims of Kubernetes", () => tokenOf(key, { claims: {} })],
  ["that is not a token", async () => "x.y.z"],
])("refuses a token %s", async (_name, token) => {
  expect(await verify(await token())).toBeUndefined();
});

it.each<[string, Parts]>([
  ["two minutes old", { expires: "-2m" }],
  ["two minutes too new, as on a node whose clock is behind", { notBefore: "2m" }],
])("lets a pod try again with a token that is %s", async (_name, parts) => {
  await expect(verify(await tokenOf(key, parts))).rejects.toThrow(UnverifiedTokenError);
});

it("refuses a token that never expires", async () => {
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256", kid: "one" })
    .setAudience("plosive-runs")
    .setSubject(subject)
    .sign(key.sign);
  expect(await verify(token)).toBeUndefined();
});

it("reads the keys again for a token with a new key, and forgets keys that are withdrawn", async () => {
  const old = await tokenOf(key, { expires: "1d" });
  expect(await verify(old)).toEqual(pod);
  const next = await makeKey("two");
  published = [next.published];
  vi.setSystemTime(Date.now() + 61_000);
  expect(await verify(await tokenOf(next))).toEqual(pod);
  await expect(verify(old)).rejects.toThrow(UnverifiedTokenError);
});

it("forgets a verified token, so that it expires", async () => {
  const token = await tokenOf(key, { expires: "30s" });
  expect(await verify(token)).toEqual(pod);
  vi.setSystemTime(Date.now() + 120_000);
  await expect(verify(token)).rejects.toThrow(UnverifiedTokenError);
});

it("reads the keys at most every 30 seconds, whatever tokens it gets", async () => {
  await verify(await tokenOf(key));
  for (let n = 0; n < 5; n++)
    await expect(verify(await tokenOf(await makeKey(`other-${n}`)))).rejects.toThrow(UnverifiedTokenError);
  expect(requests).toBe(1);
});

it("rejects while the keys cannot be read, and recovers", async () => {
  published = [];
  await expect(verify(await tokenOf(key))).rejects.toThrow("no answer");
  published = [key.published];
  expect(await verify(await tokenOf(key))).toEqual(pod);
});
