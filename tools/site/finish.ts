// After the build of the site: copies the files that pages link to, and fails for a link or an anchor that leads nowhere.
// Called by `make docs`.
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { repoDir } from "../cache.ts";

const site = join(repoDir, ".plosive/site");
// Pages link to the README, which is the first page of the site.
copyFileSync(join(site, "index.html"), join(site, "README.html"));

const pages = globSync("**/*.html", { cwd: site }).filter((page) => page !== "404.html");
const textOf = new Map(pages.map((page) => [page, readFileSync(join(site, page), "utf8")]));
const idsOf = new Map(
  [...textOf].map(([page, text]) => [
    page,
    new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)),
  ]),
);

function replacedIn(page: string, from: string, to: string): void {
  const file = join(site, page);
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(`href="${from}"`, `href="${to}"`));
}

const dead: string[] = [];
for (const [page, text] of textOf)
  for (const [, href = ""] of text.matchAll(/\shref="([^"]+)"/g)) {
    if (/^([a-z]+:|\/\/)/.test(href)) continue;
    const [path = "", anchor] = decodeURI(href).split("#");
    const named = path.startsWith("/") ? path.slice(1) : relative(site, join(site, dirname(page), path));
    const target = path === "" ? page : named === "" ? "index.html" : named;
    // VitePress takes names without an extension for pages.
    const bare = target.replace(/\.html$/, "");
    if (!existsSync(join(site, target)) && existsSync(join(repoDir, bare))) {
      mkdirSync(join(site, dirname(bare)), { recursive: true });
      copyFileSync(join(repoDir, bare), join(site, bare));
      if (bare !== target) replacedIn(page, href, href.replace(/\.html$/, ""));
      continue;
    }
    const isDead =
      target.startsWith("..") ||
      !existsSync(join(site, target)) ||
      (anchor !== undefined && anchor !== "" && !idsOf.get(target)?.has(anchor));
    if (isDead) dead.push(`${page}: ${href}`);
  }
if (dead.length > 0) {
  console.error(`site: these links lead nowhere:\n${[...new Set(dead)].join("\n")}`);
  process.exitCode = 1;
} else
  console.log(
    `site: ${pages.length} pages in .plosive/site; python3 -m http.server --directory .plosive/site shows them`,
  );
