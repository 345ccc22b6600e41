// Pushes a release to the registry that it was built for: images and chart, with signatures and attestations. Called by
// main.ts. Pushing again changes nothing but adds signatures. A version that the registry has with other digests stays as it is.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asIs, digestOf } from "./archives.ts";
import { cosign, offline, program, releaseTool } from "./programs.ts";
import { manifestFile, provenanceFile, releaseManifest } from "./release.ts";

export interface PushOptions {
  readonly folder: string;
  readonly key: string;
  /** The registry speaks plain http, as one on this machine does. */
  readonly plainHttp: boolean;
  readonly say: (line: string) => void;
}

export async function pushRelease({ folder, key, plainHttp, say }: PushOptions): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "plosive-push-"));
  try {
    await verify(folder, key, work);
    await push({ folder, key, plainHttp, say }, work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The release is complete, unchanged, and signed with this key. */
async function verify(folder: string, key: string, work: string): Promise<void> {
  const publicKey = join(work, "key.pub");
  writeFileSync(publicKey, await cosign(["public-key", "--key", key]));
  const said = await program("bash", [join(import.meta.dirname, "verify.sh"), publicKey, folder]);
  if (said.includes("not here")) throw new Error(`${folder} is not complete:\n${said}`);
}

async function push({ folder, key, plainHttp, say }: PushOptions, work: string): Promise<void> {
  const manifest = releaseManifest.parse(JSON.parse(readFileSync(join(folder, manifestFile), "utf8")));
  const { predicate } = JSON.parse(readFileSync(join(folder, provenanceFile), "utf8")) as {
    predicate: unknown;
  };
  const http = plainHttp ? ["--allow-http-registry"] : [];
  const predicateFile = join(work, "predicate.json");
  writeFileSync(predicateFile, JSON.stringify(predicate));
  const attest = (name: string, type: string, file: string) =>
    cosign(["attest", "--key", key, ...offline, ...http, "--type", type, "--predicate", file, name]);
  const images = Object.entries(manifest.images).map(([name, image]) => ({
    ...image,
    repository: `${manifest.registry}/plosive-${name}`,
  }));
  for (const { repository, digest } of images) {
    const present = await digestAt(`${repository}:${manifest.version}`, plainHttp);
    if (present !== undefined && present !== digest)
      throw new Error(
        `${repository}:${manifest.version} exists with the digest ${present}, and this release has ${digest}: a version is never replaced; make another one`,
      );
  }
  for (const { repository, archive, digest, platforms } of images) {
    await program("skopeo", [
      ...["copy", ...asIs, "--quiet", "--insecure-policy"],
      ...(plainHttp ? ["--dest-tls-verify=false"] : []),
      `oci-archive:${join(folder, archive)}:${manifest.version}`,
      `docker://${repository}:${manifest.version}`,
    ]);
    const exact = `${repository}@${digest}`;
    // Also the image of each platform.
    await cosign(["sign", "--recursive", "--key", key, ...offline, ...http, exact]);
    await attest(exact, "slsaprovenance1", predicateFile);
    for (const platform of platforms)
      await attest(`${repository}@${platform.digest}`, "spdxjson", join(folder, platform.sbom));
    say(`release: pushed and signed ${exact}`);
  }
  const chart = await pushChart(join(folder, manifest.chart), `${manifest.registry}/charts`, plainHttp);
  await cosign(["sign", "--key", key, ...offline, ...http, chart]);
  say(`release: pushed and signed ${chart}`);
}

/** Undefined if the registry has no such tag, or cannot be read; then the push fails for the same reason. */
async function digestAt(reference: string, plainHttp: boolean): Promise<string | undefined> {
  const tls = plainHttp ? ["--tls-verify=false"] : [];
  // As it is there: without --raw, skopeo would look into an index for the image of this machine.
  return program("skopeo", ["inspect", "--raw", ...tls, `docker://${reference}`]).then(
    digestOf,
    () => undefined,
  );
}

/** Returns REGISTRY/charts/plosive@DIGEST. */
async function pushChart(archive: string, repository: string, plainHttp: boolean): Promise<string> {
  // helm prints the digest on stderr.
  const output = await program("sh", [
    "-c",
    'exec "$@" 2>&1',
    "sh",
    releaseTool("helm"),
    "push",
    archive,
    `oci://${repository}`,
    ...(plainHttp ? ["--plain-http"] : []),
  ]);
  const digest = /Digest: (sha256:[0-9a-f]{64})/.exec(output)?.[1];
  if (digest === undefined) throw new Error(`helm push printed no digest:\n${output}`);
  return `${repository}/plosive@${digest}`;
}
