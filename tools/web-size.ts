// Builds the dashboard, and checks what a browser loads to show its first page: at most 45 kB of JavaScript, gzipped. Prints
// the size of each page's own chunk too. Called by `make check` and `make lint`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { z } from "zod";
import { repoDir } from "./cache.ts";

const limitBytes = 45_000;
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

const sizeOf = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => {
    const file = manifest[name]?.file ?? "";
    return sum + (file.endsWith(".js") ? gzipSync(readFileSync(join(dist, file)), { level: 9 }).length : 0);
  }, 0);

const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
const [entry] = Object.keys(manifest).filter((name) => manifest[name]?.isEntry);
if (entry === undefined) throw new Error(`${dist} has no entry`);
const first = loadedWith(entry);
const firstBytes = sizeOf(first);
for (const [name, { isDynamicEntry }] of Object.entries(manifest)) {
  if (isDynamicEntry !== true) continue;
  const more = [...loadedWith(name)].filter((other) => !first.has(other));
  process.stdout.write(`  ${name}: ${kB(sizeOf(more))} more\n`);
}
process.stdout.write(`first load: ${kB(firstBytes)} of JavaScript, gzipped; at most ${kB(limitBytes)}\n`);
if (firstBytes > limitBytes) process.exitCode = 1;
