// Images by content: the tag follows the sources, and pruning the OCI layout keeps exactly the blobs that the kept
// images need.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { pauseImage } from "../../tools/cluster/node-config.ts";
import { chartImages, pause, referenceOf } from "../../tools/images/images.ts";
import { pruneLayout } from "../../tools/images/prune.ts";
import { serveRegistry } from "../../tools/images/registry.ts";

const root = mkdtempSync(join(tmpdir(), "plosive-layout-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** A layout with two images that share a layer. */
function makeLayout(name: string) {
  const dir = join(root, name);
  const blobs = join(dir, "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  const add = (text: string) => {
    writeFileSync(join(blobs, sha256(text)), text);
    return { digest: `sha256:${sha256(text)}` };
  };
  const shared = add("shared layer");
  const image = (tag: string) => {
    const manifest = add(
      JSON.stringify({ config: add(`config ${tag}`), layers: [shared, add(`layer ${tag}`)] }),
    );
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    return {
      ...manifest,
      mediaType,
      annotations: { "org.opencontainers.image.ref.name": `plosive-worker:${tag}` },
    };
  };
  const manifests = [image("old"), image("new")];
  writeFileSync(join(dir, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
  return { dir, blobs, manifests };
}

test("every image has the name that CRI normalizes to, with a tag of its content", () => {
  for (const image of Object.values(chartImages)) {
    expect(referenceOf(image)).toMatch(new RegExp(`^docker\\.io/local/plosive-${image.name}:[0-9a-f]{12}$`));
  }
  expect(new Set(Object.values(chartImages).map(referenceOf)).size).toBe(5);
});

test("containerd's configuration names the pause image of the build", () => {
  expect(referenceOf(pause)).toBe(pauseImage);
});

test("pruning deletes the blobs of the old image and keeps the shared layer", () => {
  const { dir, blobs } = makeLayout("prune");
  expect(readdirSync(blobs)).toHaveLength(7);
  pruneLayout(dir, new Set(["plosive-worker:new"]));
  const left = readdirSync(blobs);
  expect(left).toHaveLength(4);
  expect(left).toContain(sha256("shared layer"));
  expect(left).not.toContain(sha256("layer old"));
  const index = JSON.parse(readFileSync(join(dir, "index.json"), "utf8")) as { manifests: unknown[] };
  expect(index.manifests).toHaveLength(1);
});

test("the registry serves manifests by tag and digest and blobs by digest, and no other file", async () => {
  const { dir, manifests } = makeLayout("serve");
  writeFileSync(join(dir, "secret"), "secret");
  const registry = await serveRegistry(dir, "127.0.0.1");
  try {
    const get = (path: string, init?: RequestInit) => fetch(`http://${registry.address}${path}`, init);
    const [, current] = manifests;
    const byTag = await get("/v2/local/plosive-worker/manifests/new");
    expect(byTag.status).toBe(200);
    expect(byTag.headers.get("docker-content-digest")).toBe(current?.digest);
    expect(byTag.headers.get("content-type")).toBe(current?.mediaType);
    expect((await get(`/v2/local/plosive-worker/manifests/${current?.digest}`)).status).toBe(200);
    const blob = await get(`/v2/local/plosive-worker/blobs/sha256:${sha256("shared layer")}`);
    expect(await blob.text()).toBe("shared layer");
    for (const path of [
      "/v2/local/plosive-worker/manifests/none",
      "/v2/local/plosive-other/manifests/new",
      `/v2/local/plosive-worker/blobs/sha256:${"0".repeat(64)}`,
      "/v2/local/plosive-worker/blobs/..%2F..%2Fsecret",
      "/secret",
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
    expect((await get("/v2/local/plosive-worker/manifests/new", { method: "PUT" })).status).toBe(405);
  } finally {
    await registry.close();
  }
});
