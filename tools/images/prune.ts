// Deletes images of earlier builds and layers that no image uses any more. The trainer's layer alone has 6 GB, so a few
// changes of its requirements would fill the disk. Called by build.ts after a build.
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

interface Manifest {
  readonly config?: { readonly digest: string };
  readonly layers?: readonly { readonly digest: string }[];
}

interface Index {
  readonly manifests: { readonly digest: string; readonly annotations?: Readonly<Record<string, string>> }[];
}

/** Keeps the images `keep` (`<name>:<tag>`) in an OCI layout and deletes every blob that none of them uses. */
export function pruneLayout(layoutDir: string, keep: ReadonlySet<string>): void {
  const indexFile = join(layoutDir, "index.json");
  const blobs = join(layoutDir, "blobs", "sha256");
  if (!existsSync(indexFile)) return;
  const index = JSON.parse(readFileSync(indexFile, "utf8")) as Index;
  const kept = index.manifests.filter(({ annotations }) =>
    keep.has(annotations?.["org.opencontainers.image.ref.name"] ?? ""),
  );
  const needed = new Set(
    kept.flatMap(({ digest }) => {
      const manifest = JSON.parse(readFileSync(join(blobs, hex(digest)), "utf8")) as Manifest;
      const parts = [manifest.config, ...(manifest.layers ?? [])].flatMap((part) =>
        part ? [hex(part.digest)] : [],
      );
      return [hex(digest), ...parts];
    }),
  );
  // Writes the index before it deletes blobs, so that concurrent readers see only complete images.
  writeFileSync(indexFile, JSON.stringify({ ...index, manifests: kept }));
  for (const blob of readdirSync(blobs)) if (!needed.has(blob)) rmSync(join(blobs, blob));
}

/** Removes this project's other images from buildah's store; a layer is removed with the last image that uses it. */
export async function pruneStore(store: readonly string[], keep: ReadonlySet<string>): Promise<void> {
  const list = [...store, "images", "--format", "{{.Name}}:{{.Tag}}"];
  const { stdout } = await run("buildah", list);
  const old = stdout.split("\n").filter((name) => name.startsWith("localhost/plosive-") && !keep.has(name));
  if (old.length > 0) await run("buildah", [...store, "rmi", ...old]);
}

const hex = (digest: string): string => digest.replace(/^sha256:/, "");
