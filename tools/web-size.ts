// Builds the dashboard, and checks what a browser loads, gzipped: at most 45 kB of JavaScript for the first page, and at most
// 60 kB more for each other page with its workers. Called by `make check` and `make lint`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { z } from "zod";
import { repoDir } from "./cache.ts";

const limitBytes = 45_000;
const pageLimitBytes = 60_000;
const root = join(repoDir, "web");
const dist = join(root, "dist");
await build({ root, configFile: join(root, "vite.config.ts"), logLevel: "warn" });

const manifest = z
  .record(
    z.string(),
    z.object({
      file: z.string(),
      isEntry: z.boolean().optional(),
      isDynamicEntry: z.boolean().optional(),
      imports: z.array(z.string()).default([]),
      /** Workers, and other files that the code refers to. */
      assets: z.array(z.string()).default([]),
    }),
  )
  .parse(JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8")));

/** A chunk and everything that it imports statically. */
function loadedWith(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const other of manifest[name]?.imports ?? []) loadedWith(other, found);
  return found;
}

const sizeOf = (names: Iterable<string>) => {
  const files = [...names].flatMap((name) => [manifest[name]?.file ?? "", ...(manifest[name]?.assets ?? [])]);
  return [...new Set(files)]
    .filter((file) => file.endsWith(".js"))
    .reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0);
};

const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
const [entry] = Object.keys(manifest).filter((name) => manifest[name]?.isEntry);
if (entry === undefined) throw new Error(`${dist} has no entry`);
const first = loadedWith(entry);
const firstBytes = sizeOf(first);
for (const [name, { isDynamicEntry }] of Object.entries(manifest)) {
  if (isDynamicEntry !== true) continue;
  const more = [...loadedWith(name)].filter((other) => !first.has(other));
  const moreBytes = sizeOf(more);
  process.stdout.write(`  ${name}: ${kB(moreBytes)} more\n`);
  if (moreBytes > pageLimitBytes) {
    process.stdout.write(`  more than ${kB(pageLimitBytes)}\n`);
    process.exitCode = 1;
  }
}
process.stdout.write(`first load: ${kB(firstBytes)} of JavaScript, gzipped; at most ${kB(limitBytes)}\n`);
if (firstBytes > limitBytes) process.exitCode = 1;
