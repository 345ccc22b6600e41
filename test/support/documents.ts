// The blocks of code in README.md and docs/, for the tests that run them as they stand there.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repoDir } from "../../tools/cache.ts";

/** The blocks of one document, without their fences; from a heading to the next one of its level if it is given. */
export function blocksOf(file: string, heading?: string, language = "sh"): string[] {
  const whole = readFileSync(join(repoDir, file), "utf8");
  const section = heading === undefined ? whole : (whole.split(`\n${heading}\n`)[1]?.split(/\n## /)[0] ?? "");
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...section.matchAll(fenced)].map(([, block]) => block ?? "");
}

/** The one block of a document that begins with these words. */
export function blockOf(file: string, start: string, language = "sh"): string {
  const found = blocksOf(file, undefined, language).filter((block) => block.startsWith(start));
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${file} begin with "${start}"`);
  return found[0] ?? "";
}

/** All blocks of shell that a user reads. */
export function shellBlocks(): { file: string; text: string }[] {
  const guides = readdirSync(join(repoDir, "docs")).filter((name) => name.endsWith(".md"));
  return ["README.md", ...guides.map((name) => `docs/${name}`)].flatMap((file) =>
    blocksOf(file).map((text) => ({ file, text })),
  );
}
