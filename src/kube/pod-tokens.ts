// Verifies projected tokens of pods without a request per token: against the keys with which the API server signs them.
// Used by the run endpoint (controllers/runs/authorize.ts).
import { hash } from "node:crypto";
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";
import { z } from "zod";
import type { Kube } from "./client.ts";

export type PodIdentity = { name: string; uid: string };
/**
 * Returns the pod that a token is bound to; undefined unless the token is valid, for the audience and of the account.
 * Rejects with KubeError when the keys cannot be read, and with UnverifiedTokenError when a later try may succeed. The caller must
 * check that the pod still exists.
 */
export type VerifyPodToken = (token: string) => Promise<PodIdentity | undefined>;

/** The token is too old or too new, or its key is unknown: the kubelet renews tokens, clocks differ, and new keys are read soon. */
export class UnverifiedTokenError extends Error {}

/** Where every API server publishes its public keys. */
export const signingKeysPath = "/openid/v1/jwks";

/** A pod reports every second or so: most verifications are of a token that was verified just before. */
const rememberMs = 60_000;

const bound = z.object({
  "kubernetes.io": z.object({ pod: z.object({ name: z.string(), uid: z.string() }) }),
});

export function makePodTokenVerifier(options: {
  kube: Pick<Kube, "send">;
  namespace: string;
  serviceAccount: string;
  audience: string;
}): VerifyPodToken {
  const { kube, namespace, serviceAccount, audience } = options;
  // The address is never requested: the Kubernetes client reads the keys. They are read again every ten minutes, and at
  // most every 30 seconds for a token with an unknown key.
  const keys = createRemoteJWKSet(new URL(`https://kubernetes.default.svc${signingKeysPath}`), {
    [customFetch]: async () =>
      Response.json(await kube.send({ method: "GET", path: signingKeysPath, urgent: true })),
  });
  /** Pods by the digest of their verified token, the oldest first. */
  const verified = new Map<string, { at: number; pod: PodIdentity }>();
  const remember = (digest: string, pod: PodIdentity, now: number) => {
    for (const [old, { at }] of verified) {
      if (now - at < rememberMs) break;
      verified.delete(old);
    }
    verified.set(digest, { at: now, pod });
  };
  return async (token) => {
    const digest = hash("sha256", token, "base64");
    const now = Date.now();
    const known = verified.get(digest);
    if (known !== undefined && now - known.at < rememberMs) return known.pod;
    verified.delete(digest);
    try {
      const { payload } = await jwtVerify(token, keys, {
        audience,
        subject: `system:serviceaccount:${namespace}:${serviceAccount}`,
        requiredClaims: ["exp"],
        // The clocks of two nodes differ.
        clockTolerance: 60,
      });
      const pod = bound.safeParse(payload).data?.["kubernetes.io"].pod;
      if (pod !== undefined) remember(digest, pod, now);
      return pod;
    } catch (error) {
      if (error instanceof errors.JOSEError && mayPass(error))
        throw new UnverifiedTokenError(
          `cannot verify a token yet: ${error.message}; if this lasts, compare the clocks of the nodes`,
        );
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  };
}

const mayPass = (error: errors.JOSEError): boolean =>
  error instanceof errors.JWTExpired ||
  error instanceof errors.JWKSNoMatchingKey ||
  (error instanceof errors.JWTClaimValidationFailed && error.claim === "nbf");
