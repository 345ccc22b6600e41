// Images as OCI archives with compressed layers for all architectures, and their bills of materials. Called by build.ts.
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Architecture } from "../images/architecture.ts";
import { layoutDir } from "../images/build.ts";
import { program, releaseTool } from "./programs.ts";
import type { ReleasedImage, ReleasedPlatform } from "./release.ts";

const manifestType = "application/vnd.oci.image.manifest.v1+json";
const indexType = "application/vnd.oci.image.index.v1+json";
const manifest = z.object({
  mediaType: z.literal(manifestType),
  layers: z.array(z.object({ digest: z.string(), size: z.int() })),
});

export interface ArchiveOptions {
  /** Such as server. */
  readonly name: string;
  /** In the layout of tools/images: architecture -> plosive-server:TAG. */
  readonly layoutNames: ReadonlyMap<Architecture, string>;
  readonly version: string;
  readonly registry: string;
  /** An empty folder for the release. */
  readonly out: string;
}

/** Writes the archive of one image, and a bill of materials for each architecture. */
export async function archiveImage(options: ArchiveOptions): Promise<ReleasedImage> {
  const { name, layoutNames, version, registry, out } = options;
  const archive = `plosive-${name}-${version}.oci.tar`;
  const layout = mkdtempSync(join(tmpdir(), `plosive-${name}-`));
  try {
    const platforms: (ReleasedPlatform & { readonly size: number })[] = [];
    for (const [architecture, layoutName] of layoutNames) {
      const sbom = `plosive-${name}-${version}-${architecture}.spdx.json`;
      const raw = await addToLayout(layout, architecture, layoutName, [
        ...["--source-name", `plosive-${name}`, "--source-version", version],
        ...["--output", `spdx-json=${join(out, sbom)}`],
      ]);
      const { layers } = manifest.parse(JSON.parse(raw));
      platforms.push({
        platform: `linux/${architecture}`,
        digest: digestOf(raw),
        size: Buffer.byteLength(raw),
        layers: layers.map((layer) => ({ digest: layer.digest, sizeBytes: layer.size })),
        sbom,
      });
    }
    const digest = addIndex(layout, version, platforms);
    await copy(`oci:${layout}:${version}`, `oci-archive:${join(out, archive)}:${version}`, ...asIs);
    return {
      reference: `${registry}/plosive-${name}:${version}@${digest}`,
      digest,
      archive,
      platforms: platforms.map(({ size: _, ...platform }) => platform),
    };
  } finally {
    rmSync(layout, { recursive: true, force: true });
  }
}

/** Copies an image into the layout, compressed, and writes its bill of materials. Returns its manifest. */
async function addToLayout(
  layout: string,
  architecture: Architecture,
  layoutName: string,
  scan: readonly string[],
): Promise<string> {
  // A layout of its own, because syft reads no entry of an archive beyond 2 GiB; the trainer's torch is larger.
  const alone = mkdtempSync(join(tmpdir(), "plosive-image-"));
  try {
    await copy(`oci:${layoutDir}:${layoutName}`, `oci:${alone}:${architecture}`);
    await program(releaseTool("syft"), ["scan", `oci-dir:${alone}`, ...scan], {
      env: { ...process.env, SYFT_CHECK_FOR_APP_UPDATE: "false" },
    });
    await copy(`oci:${alone}:${architecture}`, `oci:${layout}:${architecture}`);
  } finally {
    rmSync(alone, { recursive: true, force: true });
  }
  return program("skopeo", ["inspect", "--raw", `oci:${layout}:${architecture}`]);
}

/** Adds an index of the images to the layout, as its only entry, under this tag. Returns the digest of the index. */
function addIndex(
  layout: string,
  tag: string,
  platforms: readonly { platform: string; digest: string; size: number }[],
): string {
  const content = JSON.stringify({
    schemaVersion: 2,
    mediaType: indexType,
    manifests: platforms.map(({ platform, digest, size }) => {
      const [os, architecture] = platform.split("/");
      return { mediaType: manifestType, digest, size, platform: { architecture, os } };
    }),
  });
  const digest = digestOf(content);
  writeFileSync(join(layout, "blobs", digest.replace(":", "/")), content);
  const annotations = { "org.opencontainers.image.ref.name": tag };
  const entry = { mediaType: indexType, digest, size: Buffer.byteLength(content), annotations };
  writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
  return digest;
}

export const digestOf = (content: string): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** Of an index with all its images. */
export const asIs = ["--all", "--preserve-digests"];

/** skopeo compresses layers that are not compressed yet. */
const copy = (from: string, to: string, ...options: string[]) =>
  program("skopeo", ["copy", "--quiet", "--insecure-policy", ...options, from, to]);

/** The number of packages in a bill of materials; fails if it lists none. */
export function packagesIn(file: string): number {
  const { packages } = z
    .object({ packages: z.array(z.unknown()) })
    .parse(JSON.parse(readFileSync(file, "utf8")));
  if (packages.length === 0) throw new Error(`${file} lists no package`);
  return packages.length;
}
