// What a release consists of: the manifest release.json, which build.ts writes and push.ts reads, and names of files.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const releasedPlatform = z.object({
  /** linux/ARCHITECTURE. */
  platform: z.string(),
  /** Of the manifest. */
  digest,
  /** Of the compressed layers, from the base to the code. */
  layers: z.array(z.object({ digest, sizeBytes: z.int() })),
  /** A file of the release: the bill of materials in SPDX. */
  sbom: z.string(),
});

export const releasedImage = z.object({
  /** REGISTRY/plosive-NAME:VERSION@DIGEST, as the chart names it. */
  reference: z.string(),
  /** Of the index of all platforms. */
  digest,
  /** A file of the release: the OCI archive of all platforms. */
  archive: z.string(),
  platforms: z.array(releasedPlatform),
});

export const releaseManifest = z.object({
  version: z.string(),
  /** The commit that the tag v<version> names. */
  commit: z.string(),
  /** Where the images are to be pushed: host and path. */
  registry: z.string(),
  images: z.record(z.string(), releasedImage),
  chart: z.string(),
  client: z.string(),
});

export type ReleasedPlatform = z.infer<typeof releasedPlatform>;
export type ReleasedImage = z.infer<typeof releasedImage>;
export type ReleaseManifest = z.infer<typeof releaseManifest>;

export const manifestFile = "release.json";
export const provenanceFile = "provenance.json";
export const sumsFile = "sha256sums.txt";
/** The signature of the sums, in DER. */
export const signatureFile = `${sumsFile}.sig`;

/** Hex SHA-256 of a file of any size. */
export async function sha256(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 22 }), hash);
  return hash.digest("hex");
}

/** All files of a release but the sums and their signature, sorted: path in the release -> SHA-256. */
export async function sums(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => file !== sumsFile && file !== signatureFile)
    .sort();
  const found = new Map<string, string>();
  for (const file of files) found.set(file, await sha256(join(folder, file)));
  return found;
}
