// Drops what earlier builds left: images of other tags, and layers that no image has any more. The trainer's layer alone is
// 6 GB, so without it a few changes of its requirements fill the disk. Called by build.ts after a build.
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

/** Keeps the images of those names (`<name>:<tag>`) in an OCI layout and deletes every blob that none of them has. */
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
  // The index first: whoever reads it while blobs go finds complete images only.
  writeFileSync(indexFile, JSON.stringify({ ...index, manifests: kept }));
  for (const blob of readdirSync(blobs)) if (!needed.has(blob)) rmSync(join(blobs, blob));
}

/** Removes this project's images of other names from buildah's store; layers go with the last image that has them. */
export async function pruneStore(store: readonly string[], keep: ReadonlySet<string>): Promise<void> {
  const list = [...store, "images", "--format", "{{.Name}}:{{.Tag}}"];
  const { stdout } = await run("buildah", list);
  const old = stdout.split("\n").filter((name) => name.startsWith("localhost/plosive-") && !keep.has(name));
  if (old.length > 0) await run("buildah", [...store, "rmi", ...old]);
}

const hex = (digest: string): string => digest.replace(/^sha256:/, "");
