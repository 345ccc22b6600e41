// The web app that the API serves: pages and their base, assets, headers, and the dashboard switched off or not built. The
// folder is a small one of its own, which the tests write.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { makeStorage } from "../../src/storage/storage.ts";
import { serveApi, testDeps, testSettings, useApi } from "../support/api.ts";
import { sameOrigin, send } from "../support/dashboard.ts";

const folder = mkdtempSync(join(tmpdir(), "plosive-dashboard-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const built = join(folder, "dist");
const script = "console.log('the dashboard');";
const html =
  '<!doctype html>\n<html lang="en">\n<head><title>Plosive</title></head>\n<body></body>\n</html>\n';

function write(into: string): void {
  const assets = join(into, "assets");
  mkdirSync(join(assets, "deeper"), { recursive: true });
  writeFileSync(join(into, "index.html"), html);
  writeFileSync(join(into, "secret.txt"), "secret");
  writeFileSync(join(folder, "outside.txt"), "secret");
  writeFileSync(join(assets, "app-1a2b.js"), script);
  writeFileSync(join(assets, "app-1a2b.js.br"), brotliCompressSync(script));
  writeFileSync(join(assets, "app-1a2b.js.gz"), gzipSync(script));
  writeFileSync(join(assets, "style-3c4d.css"), "body { margin: 0; }");
  writeFileSync(join(assets, "icon-5e6f.svg"), "<svg/>");
  writeFileSync(join(assets, "deeper/file.js"), "secret");
  symlinkSync("../secret.txt", join(assets, "link.txt"));
}
write(built);

const api = useApi({ config: testSettings({ PLOSIVE_DASHBOARD_DIR: built }) });
const get = (path: string, headers: Record<string, string> = {}) => send(api.url, "GET", path, { headers });

describe("a page of the dashboard", () => {
  it.each([
    ["/dashboard/", "./"],
    ["/dashboard/datasets", "./"],
    ["/dashboard/datasets/", "../"],
    ["/dashboard/datasets/1?page=2", "../"],
    ["/dashboard/datasets/1/audio/2", "../../../"],
    ["/dashboard/sign-in", "./"],
    ["/dashboard/session/x", "../"],
    ["/dashboard/assets", "./"],
    ["/dashboard/a%2Fb/c", "../"],
    ["/dashboard//x", "../"],
  ])("at %s has the base %s, which works behind any path prefix", async (path, base) => {
    const { status, headers, text } = await get(path);
    expect(status).toBe(200);
    expect(text).toBe(html.replace("<head>", `<head><base href="${base}">`));
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["cache-control"]).toBe("no-cache");
    for (const prefix of ["", "/plosive", "/a/b"]) {
      const address = new URL(`https://example.com${prefix}${path}`);
      const resolved = new URL("assets/app-1a2b.js", new URL(base, address));
      expect(resolved.pathname).toBe(`${prefix}/dashboard/assets/app-1a2b.js`);
    }
  });

  it("runs only its own scripts, and reaches only its own origin and the object store", async () => {
    const { headers } = await get("/dashboard/");
    const store = new URL(await api.storage.presignGet("key", { expiresSeconds: 60, audience: "client" }))
      .origin;
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
        `connect-src 'self' ${store}; media-src blob: ${store}; worker-src 'self'; form-action 'none'; ` +
        "base-uri 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types plosive",
    );
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringContaining("microphone=()"),
    });
    // Browsers ignore the policy of plain http from another host, and warn.
    const plain = await get("/dashboard/", { Host: "plosive.example.com" });
    expect(plain.headers["cross-origin-opener-policy"]).toBeUndefined();
  });

  it("is found from /dashboard by a relative redirect, which keeps the query", async () => {
    const { status, headers } = await get("/dashboard?theme=dark");
    expect([status, headers.location]).toEqual([308, "dashboard/?theme=dark"]);
    expect(new URL("dashboard/", "https://example.com/plosive/dashboard").pathname).toBe(
      "/plosive/dashboard/",
    );
    expect((await get("/dashboards")).status).toBe(404);
    expect((await get("/Dashboard/")).status).toBe(404);
  });

  it("has the methods GET, HEAD and OPTIONS", async () => {
    const head = await send(api.url, "HEAD", "/dashboard/x");
    expect([head.status, head.text, head.headers["cache-control"]]).toEqual([200, "", "no-cache"]);
    const posted = await send(api.url, "POST", "/dashboard/x", { headers: sameOrigin });
    expect([posted.status, posted.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await send(api.url, "OPTIONS", "/dashboard/x")).headers.allow).toBe("GET, HEAD, OPTIONS");
  });
});

describe("an asset", () => {
  const app = "/dashboard/assets/app-1a2b.js";

  it("may be cached for ever, and has its type and the policy of the pages, which workers need", async () => {
    for (const [name, type] of [
      ["app-1a2b.js", "text/javascript; charset=utf-8"],
      ["style-3c4d.css", "text/css; charset=utf-8"],
      ["icon-5e6f.svg", "image/svg+xml"],
    ] as const) {
      const { status, headers } = await get(`/dashboard/assets/${name}`);
      expect([status, headers["content-type"]]).toEqual([200, type]);
      expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      expect(headers["content-security-policy"]).toContain("script-src 'self'");
    }
  });

  it("is sent in the best encoding that was built and is accepted", async () => {
    for (const [accepted, encoding, bytes] of [
      ["gzip, deflate, br", "br", brotliCompressSync(script)],
      ["gzip", "gzip", gzipSync(script)],
      ["br;q=0, gzip", "gzip", gzipSync(script)],
      ["identity", undefined, Buffer.from(script)],
      ["", undefined, Buffer.from(script)],
    ] as const) {
      const answer = await get(app, { "Accept-Encoding": accepted });
      expect([accepted, answer.headers["content-encoding"]]).toEqual([accepted, encoding]);
      expect(answer.bytes).toEqual(bytes);
      expect(answer.headers.vary).toBe("Accept-Encoding");
    }
    const style = await get("/dashboard/assets/style-3c4d.css", { "Accept-Encoding": "br" });
    expect(style.headers["content-encoding"]).toBeUndefined();
  });

  it.each([
    "",
    "missing.js",
    "../index.html",
    "../secret.txt",
    "..%2fsecret.txt",
    "%2e%2e/secret.txt",
    "%2e%2e%2f%2e%2e%2foutside.txt",
    "....//secret.txt",
    "..\\secret.txt",
    "..%5csecret.txt",
    "deeper/file.js",
    "deeper",
    "link.txt",
    "/etc/passwd",
    "app-1a2b.js/",
    "app-1a2b.js%00",
    "app-1a2b.js.br",
    "app-1a2b.js.gz",
    "__proto__",
    "toString",
    `${"../".repeat(20)}etc/passwd`,
  ])("named %s does not exist", async (name) => {
    const { status, headers, text } = await get(`/dashboard/assets/${name}`);
    expect([status, headers["cache-control"]]).toEqual([404, "no-store"]);
    expect(text).not.toMatch(/secret|root:/);
  });
});

describe("an API", () => {
  const served = async (
    settings: Parameters<typeof testSettings>[0],
    work: (url: string) => Promise<void>,
  ) => {
    const own = await serveApi({ ...testDeps(api.pool, api.storage), config: testSettings(settings) });
    try {
      await work(own.url);
    } finally {
      await own.stop();
    }
  };

  it("whose dashboard is not built says what to do, and serves it once it is built", async () => {
    const later = join(folder, "later");
    await served({ PLOSIVE_DASHBOARD_DIR: later }, async (url) => {
      const missing = await send(url, "GET", "/dashboard/");
      expect([missing.status, missing.body.code]).toEqual([503, "unavailable"]);
      expect(missing.body.detail).toContain("npm run build");
      expect((await send(url, "GET", "/dashboard/session")).status).toBe(401);
      write(later);
      expect((await send(url, "GET", "/dashboard/")).status).toBe(200);
    });
  });

  it("with PLOSIVE_DASHBOARD_ENABLED=false knows nothing under /dashboard", async () => {
    const { key } = await api.tenant();
    await served({ PLOSIVE_DASHBOARD_ENABLED: false, PLOSIVE_DASHBOARD_DIR: built }, async (url) => {
      for (const [method, path] of [
        ["GET", "/dashboard"],
        ["GET", "/dashboard/"],
        ["GET", "/dashboard/assets/app-1a2b.js"],
        ["POST", "/dashboard/session"],
        ["GET", "/dashboard/api/v1/datasets"],
        ["POST", "/dashboard/api/v1/datasets"],
      ] as const) {
        const answer = await send(url, method, path, { headers: { "X-API-Key": key } });
        expect([path, answer.status, answer.body]).toEqual([
          path,
          404,
          { detail: "Not Found", code: "route_not_found" },
        ]);
      }
    });
  });
});

it("the policy names the address of the bucket in virtual-host style", () => {
  const config = {
    PLOSIVE_S3_ENDPOINT: "http://internal:9000",
    PLOSIVE_S3_PUBLIC_ENDPOINT: "https://s3.example.com/",
    PLOSIVE_S3_REGION: "x",
    PLOSIVE_S3_BUCKET: "voices",
  };
  for (const [addressing, origin] of [
    ["virtual", "https://voices.s3.example.com"],
    ["path", "https://s3.example.com"],
  ] as const) {
    const storage = makeStorage({ ...config, PLOSIVE_S3_ADDRESSING: addressing });
    expect(storage.publicOrigin).toBe(origin);
    storage.close();
  }
});
