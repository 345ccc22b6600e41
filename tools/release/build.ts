// Builds a release into an empty folder: images, chart, client, bills of materials, provenance, checksums, signature.
// Called by main.ts.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { z } from "zod";
import type { Architecture } from "../images/architecture.ts";
import { chartImages } from "../images/images.ts";
import { archiveImage, packagesIn } from "./archives.ts";
import { archiveChart } from "./chart-archive.ts";
import { packClient } from "./client-package.ts";
import { cosign, offline, program } from "./programs.ts";
import { provenance } from "./provenance.ts";
import {
  manifestFile,
  provenanceFile,
  type ReleasedImage,
  type ReleaseManifest,
  signatureFile,
  sums,
  sumsFile,
} from "./release.ts";
import { releaseSource, type Source } from "./source.ts";

export interface BuildOptions {
  readonly source: Source;
  readonly out: string;
  readonly registry: string;
  /** cosign's private key. */
  readonly key: string;
  readonly architectures: readonly Architecture[];
  readonly say: (line: string) => void;
}

/** The folder is complete when it has the signature, which is written last. */
export async function buildRelease({
  source,
  out,
  registry,
  key,
  architectures,
  say,
}: BuildOptions): Promise<ReleaseManifest> {
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new Error(`${out} is not empty: name another folder with --out, or delete it`);
  mkdirSync(out, { recursive: true });
  const begun = new Date();
  const built = new Map<Architecture, Readonly<Record<string, string>>>();
  for (const architecture of architectures) built.set(architecture, await imagesFor(architecture));
  const images: Record<string, ReleasedImage> = {};
  for (const name of Object.keys(chartImages)) {
    const layoutNames = new Map(
      [...built].flatMap(([one, { [name]: reference }]) =>
        reference === undefined ? [] : [[one, basename(reference)] as const],
      ),
    );
    const image = await archiveImage({ name, layoutNames, version: source.version, registry, out });
    images[name] = image;
    const contents = image.platforms.map(
      ({ platform, sbom }) => `${packagesIn(join(out, sbom))} packages for ${platform}`,
    );
    say(`release: ${image.archive}, ${mebibytes(join(out, image.archive))} MiB, ${contents.join(", ")}`);
  }
  const references = Object.fromEntries(
    Object.entries(images).map(([name, { reference }]) => [name, reference]),
  );
  const manifest: ReleaseManifest = {
    version: source.version,
    commit: source.commit,
    registry,
    images,
    chart: await archiveChart(source.version, references, out),
    client: await packClient(source.version, out),
  };
  writeJson(join(out, manifestFile), manifest);
  copyFileSync(join(import.meta.dirname, "verify.sh"), join(out, "verify.sh"));
  // Nobody changed the files while the build read them.
  if (releaseSource().commit !== source.commit)
    throw new Error("another commit was checked out during the build: build the release again");
  const files = await sums(out);
  writeJson(
    join(out, provenanceFile),
    await provenance({ source, manifest, files, begun, ended: new Date() }),
  );
  const lines = [...(await sums(out))].map(([file, sum]) => `${sum}  ${file}\n`);
  writeFileSync(join(out, sumsFile), lines.join(""));
  writeFileSync(join(out, signatureFile), await signatureOf(join(out, sumsFile), key));
  say(`release: ${lines.length} files of version ${source.version} are in ${out}`);
  return manifest;
}

/** cosign's bundle has more members, which openssl does not check: the release has only the signature, of which each byte counts. */
async function signatureOf(file: string, key: string): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "plosive-release-"));
  const bundle = join(folder, "bundle.json");
  try {
    await cosign(["sign-blob", "--key", key, ...offline, "--bundle", bundle, file]);
    const { messageSignature } = signed.parse(JSON.parse(readFileSync(bundle, "utf8")));
    return Buffer.from(messageSignature.signature, "base64");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const signed = z.object({ messageSignature: z.object({ signature: z.base64() }) });

/** Builds the images that are missing. Returns the references of tools/images by the chart's names. */
async function imagesFor(architecture: Architecture): Promise<Readonly<Record<string, string>>> {
  const folder = mkdtempSync(join(tmpdir(), "plosive-release-"));
  const file = join(folder, "images.json");
  try {
    const script = join(import.meta.dirname, "../images/main.ts");
    // Those of the other architectures are of this release too.
    await program(process.execPath, [script, "build", "--keep-others", "--references", file], {
      env: { ...process.env, PLOSIVE_ARCHITECTURE: architecture },
    });
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const mebibytes = (file: string): string => (statSync(file).size / 2 ** 20).toFixed(0);
const writeJson = (file: string, value: unknown): void =>
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
