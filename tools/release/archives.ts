// Images as OCI archives with compressed layers, and their bills of materials. Called by build.ts.
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { layoutDir } from "../images/build.ts";
import { program, releaseTool } from "./programs.ts";
import type { ReleasedImage } from "./release.ts";

const manifest = z.object({ layers: z.array(z.object({ digest: z.string(), size: z.int() })) });

export interface ArchiveOptions {
  /** Such as server. */
  readonly name: string;
  /** In the layout of tools/images: plosive-server:TAG. */
  readonly layoutName: string;
  readonly version: string;
  readonly registry: string;
  readonly architecture: string;
  /** An empty folder for the release. */
  readonly out: string;
}

/** Writes the archive and the bill of materials of one image. */
export async function archiveImage(options: ArchiveOptions): Promise<ReleasedImage> {
  const { name, layoutName, version, registry, architecture, out } = options;
  const archive = `plosive-${name}-${version}-${architecture}.oci.tar`;
  const sbom = `plosive-${name}-${version}-${architecture}.spdx.json`;
  // A layout of its own, because syft reads no entry of an archive beyond 2 GiB; the trainer's torch is larger.
  const layout = mkdtempSync(join(tmpdir(), `plosive-${name}-`));
  const at = `oci:${layout}:${version}`;
  try {
    await copy(`oci:${layoutDir}:${layoutName}`, at);
    await program(
      releaseTool("syft"),
      [
        ...["scan", `oci-dir:${layout}`, "--source-name", `plosive-${name}`, "--source-version", version],
        ...["--output", `spdx-json=${join(out, sbom)}`],
      ],
      { env: { ...process.env, SYFT_CHECK_FOR_APP_UPDATE: "false" } },
    );
    await copy(at, `oci-archive:${join(out, archive)}:${version}`);
    const raw = await program("skopeo", ["inspect", "--raw", at]);
    const { layers } = manifest.parse(JSON.parse(raw));
    const digest = `sha256:${createHash("sha256").update(raw).digest("hex")}`;
    return {
      reference: `${registry}/plosive-${name}:${version}@${digest}`,
      digest,
      layers: layers.map((layer) => ({ digest: layer.digest, sizeBytes: layer.size })),
      archive,
      sbom,
    };
  } finally {
    rmSync(layout, { recursive: true, force: true });
  }
}

/** skopeo compresses layers that are not compressed yet. */
const copy = (from: string, to: string) =>
  program("skopeo", ["copy", "--quiet", "--insecure-policy", from, to]);

/** The number of packages in a bill of materials; fails if it lists none. */
export function packagesIn(file: string): number {
  const { packages } = z
    .object({ packages: z.array(z.unknown()) })
    .parse(JSON.parse(readFileSync(file, "utf8")));
  if (packages.length === 0) throw new Error(`${file} lists no package`);
  return packages.length;
}
