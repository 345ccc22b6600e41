// What a release was made of, as a statement in the form of SLSA provenance v1. Called by build.ts; push.ts attaches the
// predicate to each image.
import { join } from "node:path";
import { repoDir } from "../cache.ts";
import { type ReleaseManifest, sha256 } from "./release.ts";
import type { Source } from "./source.ts";

/** Files that pin what the build downloads. */
const pins = [
  "package-lock.json",
  "images/worker/requirements.txt",
  "images/worker/requirements-train.txt",
  "tools/go/versitygw/go.sum",
];

export interface ProvenanceOptions {
  readonly source: Source;
  readonly manifest: ReleaseManifest;
  /** Path in the release -> SHA-256. */
  readonly files: ReadonlyMap<string, string>;
  readonly begun: Date;
  readonly ended: Date;
}

export async function provenance(options: ProvenanceOptions): Promise<object> {
  const { source, manifest, files, begun, ended } = options;
  const pinned = await Promise.all(
    pins.map(async (file) => ({ name: file, digest: { sha256: await sha256(join(repoDir, file)) } })),
  );
  const images = Object.values(manifest.images).flatMap(({ reference, digest, platforms }) =>
    [{ digest }, ...platforms].map((one) => ({
      name: reference.replace(digest, one.digest),
      digest: { sha256: one.digest.replace("sha256:", "") },
    })),
  );
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [...[...files].map(([name, hex]) => ({ name, digest: { sha256: hex } })), ...images],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://plosive.dev/release/v1",
        externalParameters: { tag: `v${source.version}`, registry: manifest.registry },
        internalParameters: { platforms: platformsOf(manifest) },
        resolvedDependencies: [
          {
            uri: `git+${source.repository}@refs/tags/v${source.version}`,
            digest: { gitCommit: source.commit },
          },
          ...pinned,
        ],
      },
      runDetails: {
        builder: { id: builder() },
        metadata: { startedOn: begun.toISOString(), finishedOn: ended.toISOString() },
      },
    },
  };
}

const platformsOf = ({ images }: ReleaseManifest): string[] => [
  ...new Set(Object.values(images).flatMap(({ platforms }) => platforms.map(({ platform }) => platform))),
];

/** The run of the workflow, where there is one: GitHub's own variables. */
function builder(): string {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID } = process.env;
  return GITHUB_RUN_ID === undefined
    ? "https://plosive.dev/release/by-hand"
    : `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
}
