// Presigns URLs and forms with AWS Signature Version 4. Called by storage.ts.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html and sigv4-post-example.html
// The SDK blocks the event loop for half a millisecond per URL or form: with 100,000 training files the operator would lose
// its lease, and each request for 100 upload tickets would delay all other requests of the API.
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

/** Returns a function that presigns URLs of a bucket's objects. */
export function makePresign({ region, ...address }: Signer) {
  const { origin, path: root } = bucketUrl(address);
  const { host } = new URL(origin);
  const scopeOf = makeScopes(region);

  return ({
    method,
    key,
    expiresSeconds,
    query = {},
    headers: own = {},
    at,
    credentials,
  }: Signed): string => {
    const { time, scope, members: signer, sign } = scopeOf(at, credentials);
    const headers = Object.entries({ ...own, host }).sort(([a], [b]) => (a < b ? -1 : 1));
    const signedHeaders = headers.map(([name]) => name).join(";");
    const members = Object.entries({
      ...signer,
      "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
      "X-Amz-Expires": String(expiresSeconds),
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
    const signature = sign(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`);
    return `${origin}${path}?${search}&X-Amz-Signature=${signature}`;
  };
}

export interface SignedForm {
  readonly key: string;
  readonly expiresSeconds: number;
  readonly fields: Readonly<Record<string, string>>;
  /** The upload must have exactly this many bytes. */
  readonly sizeBytes: number;
  readonly at: Date;
  readonly credentials: Credentials;
}

/** Returns a function that presigns forms to upload objects of a bucket. The policy fixes every field and the size. */
export function makePresignPost({ region, ...address }: Signer) {
  const { origin, path } = bucketUrl(address);
  const scopeOf = makeScopes(region);

  return ({ key, expiresSeconds, fields: own, sizeBytes, at, credentials }: SignedForm) => {
    const { members, sign } = scopeOf(at, credentials);
    const fields = { ...own, bucket: address.bucket, ...members, key };
    const expiration = new Date(at.getTime() + expiresSeconds * 1_000).toISOString().replace(/\.\d{3}/, "");
    const conditions = [
      ["content-length-range", sizeBytes, sizeBytes],
      ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
    ];
    const policy = Buffer.from(JSON.stringify({ expiration, conditions })).toString("base64");
    return {
      url: `${origin}${path || "/"}`,
      fields: { ...fields, Policy: policy, "X-Amz-Signature": sign(policy) },
    };
  };
}

/** What all signatures of one time and signer share. It derives a signing key per secret and day. */
function makeScopes(region: string) {
  let signingKey: { day: string; secret: string; key: Buffer } | undefined;
  return (at: Date, { accessKeyId, secretAccessKey: secret, sessionToken }: Credentials) => {
    const time = at.toISOString().replace(/[-:]|\.\d{3}/g, "");
    const day = time.slice(0, 8);
    if (signingKey?.day !== day || signingKey.secret !== secret)
      signingKey = { day, secret, key: deriveSigningKey(secret, day, region) };
    const { key } = signingKey;
    const scope = `${day}/${region}/s3/aws4_request`;
    const members = {
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": `${accessKeyId}/${scope}`,
      "X-Amz-Date": time,
      ...(sessionToken ? { "X-Amz-Security-Token": sessionToken } : {}),
    };
    return { time, scope, members, sign: (text: string) => hmac(key, text).toString("hex") };
  };
}

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

const deriveSigningKey = (secret: string, day: string, region: string) =>
  [region, "s3", "aws4_request"].reduce(hmac, hmac(`AWS4${secret}`, day));

/** Percent-encodes all but the unreserved characters of RFC 3986. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
