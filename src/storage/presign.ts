// Presigns URLs with AWS Signature Version 4 in the query string. Called by storage.ts.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
// The SDK blocks the event loop for half a millisecond per URL: with 100,000 training files the operator would lose its
// lease.
import { createHash, createHmac } from "node:crypto";
import { type BucketAddress, bucketUrl } from "./addressing.ts";

export interface Signer extends BucketAddress {
  readonly region: string;
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

export interface Signed {
  readonly method: "GET" | "PUT";
  readonly key: string;
  readonly expiresSeconds: number;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Headers that the user of the URL must send, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly at: Date;
  readonly credentials: Credentials;
}

/** Presigns with the present credentials and time. */
export type Presign = (request: Omit<Signed, "at" | "credentials">) => Promise<string>;

/** Returns a function that presigns URLs of a bucket's objects. It derives a signing key per secret and day. */
export function makePresign({ region, ...address }: Signer) {
  const { origin, path: root } = bucketUrl(address);
  const { host } = new URL(origin);
  let signingKey: { day: string; secret: string; key: Buffer } | undefined;

  return ({
    method,
    key,
    expiresSeconds,
    query = {},
    headers: own = {},
    at,
    credentials,
  }: Signed): string => {
    const { accessKeyId, secretAccessKey: secret, sessionToken } = credentials;
    const time = at.toISOString().replace(/[-:]|\.\d{3}/g, "");
    const day = time.slice(0, 8);
    if (signingKey?.day !== day || signingKey.secret !== secret)
      signingKey = { day, secret, key: deriveSigningKey(secret, day, region) };
    const scope = `${day}/${region}/s3/aws4_request`;
    const headers = Object.entries({ ...own, host }).sort(([a], [b]) => (a < b ? -1 : 1));
    const signedHeaders = headers.map(([name]) => name).join(";");
    const members = Object.entries({
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
      "X-Amz-Credential": `${accessKeyId}/${scope}`,
      "X-Amz-Date": time,
      "X-Amz-Expires": String(expiresSeconds),
      "X-Amz-Security-Token": sessionToken || undefined,
      "X-Amz-SignedHeaders": signedHeaders,
      ...query,
    }).flatMap(([name, value]) => (value === undefined ? [] : [`${encode(name)}=${encode(value)}`]));
    const search = members.sort().join("&");
    const path = `${root}/${key.split("/").map(encode).join("/")}`;
    const request = [
      method,
      path,
      search,
      ...headers.map(([name, value]) => `${name}:${value}`),
      "",
      signedHeaders,
      "UNSIGNED-PAYLOAD",
    ].join("\n");
    const digest = createHash("sha256").update(request).digest("hex");
    const signature = hmac(signingKey.key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`).toString("hex");
    return `${origin}${path}?${search}&X-Amz-Signature=${signature}`;
  };
}

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

const deriveSigningKey = (secret: string, day: string, region: string) =>
  [region, "s3", "aws4_request"].reduce(hmac, hmac(`AWS4${secret}`, day));

/** Percent-encodes all but the unreserved characters of RFC 3986. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
