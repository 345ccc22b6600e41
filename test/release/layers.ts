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
  /** Made of files of this repository, or of packages that it pins by digest. */
  readonly isOurs: boolean;
}

/** The image whose name begins with `prefix`; `image` is its name in the layout. */
export function layersOf(layout: string, prefix: string): { image: string; steps: Layer[] } {
  const blob = (digest: string): unknown =>
    JSON.parse(readFileSync(join(layout, "blobs/sha256", digest.replace("sha256:", "")), "utf8"));
  const { manifests } = index.parse(JSON.parse(readFileSync(join(layout, "index.json"), "utf8")));
  const nameOf = ({ annotations }: (typeof manifests)[number]) =>
    annotations["org.opencontainers.image.ref.name"] ?? "";
  const found = manifests.find((one) => nameOf(one).startsWith(`${prefix}:`));
  if (found === undefined) throw new Error(`${layout} has no image ${prefix}`);
  const { history, rootfs } = config.parse(blob(manifest.parse(blob(found.digest)).config.digest));
  const steps = history.filter((entry) => entry.empty_layer !== true);
  if (steps.length !== rootfs.diff_ids.length)
    throw new Error(`${prefix} has ${rootfs.diff_ids.length} layers and ${steps.length} steps`);
  return {
    image: nameOf(found),
    steps: steps.map(({ created_by: step }) => ({
      step,
      isOurs: / COPY |compileall|pip install/.test(step),
    })),
  };
}
