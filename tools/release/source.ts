// The source of a release: a tag, a clean work tree, one version in all places. Called by main.ts.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { repoDir } from "../cache.ts";

export interface Source {
  readonly version: string;
  readonly commit: string;
  /** Address of the origin, without credentials. */
  readonly repository: string;
}

const chartFile = z.object({ version: z.string(), appVersion: z.string() });
const packageFile = z.object({ version: z.string() });

/** Fails with what is missing: a release is made of a commit that everybody can check out. */
export function releaseSource(root = repoDir): Source {
  const git = (...args: string[]) => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();
  const chart = chartFile.parse(parse(readFileSync(join(root, "charts/plosive/Chart.yaml"), "utf8")));
  const { version } = packageFile.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  if (chart.version !== version || chart.appVersion !== version) {
    throw new Error(
      `a release has one version: package.json has ${version}, Chart.yaml has version ${chart.version} and appVersion ${chart.appVersion}`,
    );
  }
  const changed = git("status", "--porcelain");
  if (changed !== "")
    throw new Error(`the work tree has changes that are not committed; commit or remove them:\n${changed}`);
  const tag = `v${version}`;
  if (!git("tag", "--points-at", "HEAD").split("\n").includes(tag))
    throw new Error(`the commit has no tag ${tag}: check out the tag, or make it with \`git tag ${tag}\``);
  const origin = git("config", "--default", "", "--get", "remote.origin.url");
  return { version, commit: git("rev-parse", "HEAD"), repository: publicAddress(origin) };
}

/** Without user and password, which an address may contain; as a URI also where git's short form is none. */
export function publicAddress(origin: string): string {
  const short = /^[^/@]+@([^:/]+):(.+)$/.exec(origin);
  if (short !== null) return `https://${short[1]}/${short[2]}`;
  if (!URL.canParse(origin) || !/^(https?|ssh|git):/.test(origin)) return "unknown";
  const url = new URL(origin);
  url.username = "";
  url.password = "";
  return url.href;
}
