// Pushes a release to the registry that it was built for: images and chart, with signatures and attestations. Called by
// main.ts. Pushing again changes nothing but adds signatures.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  const manifest = releaseManifest.parse(JSON.parse(readFileSync(join(folder, manifestFile), "utf8")));
  const { predicate } = JSON.parse(readFileSync(join(folder, provenanceFile), "utf8")) as {
    predicate: unknown;
  };
  const http = plainHttp ? ["--allow-http-registry"] : [];
  const work = mkdtempSync(join(tmpdir(), "plosive-push-"));
  const predicateFile = join(work, "predicate.json");
  writeFileSync(predicateFile, JSON.stringify(predicate));
  const attest = (name: string, type: string, file: string) =>
    cosign(["attest", "--key", key, ...offline, ...http, "--type", type, "--predicate", file, name]);
  try {
    for (const [name, image] of Object.entries(manifest.images)) {
      const repository = `${manifest.registry}/plosive-${name}`;
      const pushed = join(work, "digest");
      await program("skopeo", [
        ...["copy", "--quiet", "--insecure-policy", "--preserve-digests", "--digestfile", pushed],
        ...(plainHttp ? ["--dest-tls-verify=false"] : []),
        `oci-archive:${join(folder, image.archive)}:${manifest.version}`,
        `docker://${repository}:${manifest.version}`,
      ]);
      const digest = readFileSync(pushed, "utf8").trim();
      if (digest !== image.digest)
        throw new Error(
          `${repository} has the digest ${digest} after the push, and ${image.digest} in the release`,
        );
      const exact = `${repository}@${digest}`;
      await cosign(["sign", "--key", key, ...offline, ...http, exact]);
      await attest(exact, "spdxjson", join(folder, image.sbom));
      await attest(exact, "slsaprovenance1", predicateFile);
      say(`release: pushed and signed ${exact}`);
    }
    const chart = await pushChart(join(folder, manifest.chart), `${manifest.registry}/charts`, plainHttp);
    await cosign(["sign", "--key", key, ...offline, ...http, chart]);
    say(`release: pushed and signed ${chart}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
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
