// /docs: the OpenAPI description as a page for people, rendered by swagger-ui. All assets are served from here, and the
// content security policy lets the page run only its own two scripts. Middleware and not a route, so the OpenAPI
// description does not list it. Used by app.ts.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Middleware } from "koa";
import { methodNotAllowed } from "../errors.ts";
import { etagOf, isUnchanged } from "./conditional.ts";

const methods = ["GET", "HEAD", "OPTIONS"];
const require = createRequire(import.meta.url);

/** swagger-ui sets styles through the CSSOM, to which the policy does not apply. Its icons are data URLs in its CSS. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Plosive: REST API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
<noscript>This page needs JavaScript. The description itself is at <a href="openapi.json">openapi.json</a>.</noscript>
<main id="docs"></main>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** An API key that a user enters stays in the memory of the page and is lost when the user leaves the page. */
const start = `"use strict";
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

const style = `body { margin: 0; }
html.dark-mode { background: #1c2022; }
noscript { display: block; padding: 2rem; font-family: sans-serif; }
`;

const ofSwagger = (name: string) => () => readFile(require.resolve(`swagger-ui-dist/${name}`), "utf8");

const assets: Readonly<Record<string, () => Promise<string> | string>> = {
  "/docs": () => page,
  "/docs/start.js": () => start,
  "/docs/page.css": () => style,
  "/docs/swagger-ui-bundle.js": ofSwagger("swagger-ui-bundle.js"),
  "/docs/swagger-ui.css": ofSwagger("swagger-ui.css"),
};

interface Loaded {
  readonly plain: Buffer;
  readonly packed: Buffer;
  readonly etag: string;
}

/** Serves /docs and its assets. If `enabled` is false, these paths are unknown. */
export function docsPage(enabled: boolean): Middleware {
  const loaded = new Map<string, Promise<Loaded>>();
  return async (ctx, next) => {
    const { path } = ctx;
    const read = Object.hasOwn(assets, path) ? assets[path] : undefined;
    if (!enabled || read === undefined) return await next();
    ctx.state.route = path;
    ctx.set("Allow", methods.join(", "));
    if (ctx.method === "OPTIONS") {
      ctx.status = 204;
      return;
    }
    if (!methods.includes(ctx.method)) throw methodNotAllowed(methods);
    const known = loaded.get(path) ?? load(read);
    loaded.set(path, known);
    known.catch(() => loaded.delete(path));
    const { plain, packed, etag } = await known;
    ctx.set("Content-Security-Policy", policy);
    ctx.set("Cache-Control", "no-cache");
    ctx.set("ETag", etag);
    ctx.vary("Accept-Encoding");
    ctx.type = extname(path) || "html";
    ctx.status = 200;
    if (isUnchanged(ctx.get("If-None-Match") || undefined, etag)) {
      ctx.status = 304;
      return;
    }
    if (ctx.acceptsEncodings("gzip", "identity") === "gzip") {
      ctx.set("Content-Encoding", "gzip");
      ctx.body = packed;
    } else ctx.body = plain;
  };
}

/** Compresses each asset once and not for every request, because the script is large. */
async function load(read: () => Promise<string> | string): Promise<Loaded> {
  const plain = Buffer.from(await read());
  return { plain, packed: await promisify(gzip)(plain), etag: etagOf(plain) };
}
