// The built web app (web/, folder PLOSIVE_DASHBOARD_DIR): one page for all paths, and its assets. All of it is kept in memory:
// nobody can ask for another file, and slow readers share the memory. Called by dashboard.ts.
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Context } from "koa";
import { notReady, routeNotFound } from "../../errors.ts";
import type { SharedDeps } from "../route.ts";
import { isTrustworthy } from "./cookie.ts";
import { hasProvider } from "./oidc.ts";

interface Files {
  readonly page: string;
  /** By name. Compressed variants have the name of the asset and .br or .gz. */
  readonly assets: ReadonlyMap<string, Buffer>;
}

const assetsPath = "/dashboard/assets/";

/** Returns the function that answers a GET below /dashboard/. Reads the folder at the first call that finds it. */
export function makePages({
  config,
  storage,
}: Pick<SharedDeps, "config" | "storage">): (ctx: Context) => Promise<void> {
  let files: Promise<Files> | undefined;
  const policy = policyFor(storage.publicOrigin);
  // Tells the sign-in page of the provider without a request of its own.
  const provider = hasProvider(config)
    ? `<meta name="plosive-provider" content="${escapeText(config.PLOSIVE_OIDC_NAME)}">`
    : "";
  return async (ctx) => {
    const isAsset = ctx.path.startsWith(assetsPath);
    ctx.state.route = isAsset ? `${assetsPath}{name}` : "/dashboard/{page}";
    files ??= load(config.PLOSIVE_DASHBOARD_DIR).catch((error: unknown) => {
      files = undefined;
      throw error;
    });
    const { page, assets } = await files;
    if (isAsset) sendAsset(ctx, assets);
    else sendPage(ctx, page, provider);
    // Workers take their policy from their script's response.
    ctx.set("Content-Security-Policy", policy);
    ctx.set("Permissions-Policy", permissions);
    // Browsers ignore it elsewhere, and warn.
    if (isTrustworthy(ctx.req, config)) ctx.set("Cross-Origin-Opener-Policy", "same-origin");
  };
}

async function load(folder: string): Promise<Files> {
  try {
    const page = await readFile(join(folder, "index.html"), "utf8");
    const entries = await readdir(join(folder, "assets"), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
    const assets = names.map(async (name) => [name, await readFile(join(folder, "assets", name))] as const);
    return { page, assets: new Map(await Promise.all(assets)) };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw notReady("the dashboard is not built; run `npm run build:web`");
  }
}

/** The page refers to everything relative to its base, so that it works behind a proxy that adds a path prefix. */
function sendPage(ctx: Context, page: string, provider: string): void {
  const depth = ctx.path.slice("/dashboard/".length).split("/").length - 1;
  const base = depth === 0 ? "./" : "../".repeat(depth);
  ctx.set("Cache-Control", "no-cache");
  ctx.type = "html";
  ctx.body = page.replace(/<head\b[^>]*>/i, (head) => `${head}<base href="${base}">${provider}`);
}

const escapeText = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

function sendAsset(ctx: Context, assets: Files["assets"]): void {
  const name = ctx.path.slice(assetsPath.length);
  // The variants are no assets by themselves.
  const plain = codings.some(([, suffix]) => name.endsWith(suffix)) ? undefined : assets.get(name);
  if (plain === undefined) throw routeNotFound();
  ctx.vary("Accept-Encoding");
  // The names contain a digest of the content.
  ctx.set("Cache-Control", "public, max-age=31536000, immutable");
  ctx.body = plain;
  for (const [coding, suffix] of codings) {
    const packed = assets.get(name + suffix);
    if (packed === undefined || ctx.acceptsEncodings(coding) !== coding) continue;
    ctx.set("Content-Encoding", coding);
    ctx.body = packed;
    break;
  }
  ctx.type = extname(name);
}

const codings = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

const permissions = ["camera", "display-capture", "geolocation", "microphone", "midi", "payment", "usb"]
  .map((feature) => `${feature}=()`)
  .join(", ");

const policyFor = (store: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${store}`,
    `media-src blob: ${store}`,
    "worker-src 'self'",
    "form-action 'none'",
    "base-uri 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // The policy of the workers (web/src/app/worker-url.ts).
    "trusted-types plosive",
  ].join("; ");
