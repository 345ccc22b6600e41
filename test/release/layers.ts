// The layers of an image in an OCI layout, with the step of the Dockerfile that made each. Called by release.test.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const index = z.object({
  manifests: z.array(z.object({ digest: z.string(), annotations: z.record(z.string(), z.string()) })),
});
const manifest = z.object({ config: z.object({ digest: z.string() }) });
const config = z.object({
  history: z.array(z.object({ created_by: z.string(), empty_layer: z.boolean().optional() })),
  rootfs: z.object({ diff_ids: z.array(z.string()) }),
});

export interface Layer {
  readonly step: string;
  /** SHA-256 of the uncompressed layer. */
  readonly digest: string;
  /** Made of files of this repository alone, or of packages that it pins by digest. */
  readonly isOurs: boolean;
}

/** `name`: <image>:<tag>. */
export function layersOf(layout: string, name: string): Layer[] {
  const blob = (digest: string): unknown =>
    JSON.parse(readFileSync(join(layout, "blobs/sha256", digest.replace("sha256:", "")), "utf8"));
  const { manifests } = index.parse(JSON.parse(readFileSync(join(layout, "index.json"), "utf8")));
  const found = manifests.find(
    ({ annotations }) => annotations["org.opencontainers.image.ref.name"] === name,
  );
  if (found === undefined) throw new Error(`${layout} has no image ${name}`);
  const { history, rootfs } = config.parse(blob(manifest.parse(blob(found.digest)).config.digest));
  const steps = history.filter((entry) => entry.empty_layer !== true);
  if (steps.length !== rootfs.diff_ids.length)
    throw new Error(`${name} has ${rootfs.diff_ids.length} layers and ${steps.length} steps`);
  return steps.map(({ created_by: step }, number) => ({
    step,
    digest: rootfs.diff_ids[number] ?? "",
    isOurs: / COPY |compileall/.test(step),
  }));
}
