// The address of a bucket: https://endpoint/bucket in path style, https://bucket.endpoint in virtual-host style. Called by
// storage.ts and presign.ts.
import { isIP } from "node:net";

export type Addressing = "path" | "virtual";

export interface BucketAddress {
  readonly endpoint: string;
  readonly bucket: string;
  readonly addressing: Addressing;
}

/**
 * Returns the URL of the bucket without a slash at its end. Throws if virtual-host style is impossible: the S3 SDK would
 * use path style without a word, and its URLs would differ from ours.
 */
export function bucketUrl({ endpoint, bucket, addressing }: BucketAddress): { origin: string; path: string } {
  const { protocol, host, hostname, pathname } = new URL(endpoint);
  const root = pathname.replace(/\/$/, "");
  if (addressing === "path") return { origin: `${protocol}//${host}`, path: `${root}/${bucket}` };
  if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0)
    throw new Error(
      `virtual-host addressing needs an S3 endpoint with a host name, and ${endpoint} has an IP address: use path`,
    );
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(bucket))
    throw new Error(
      `virtual-host addressing needs a bucket whose name is one DNS label, and ${bucket} is none: use path`,
    );
  return { origin: `${protocol}//${bucket}.${host}`, path: root };
}
