// The passive rules of ZAP's baseline scan, by their numbers, over every answer of the dashboard: all pages and what they ask for,
// all assets, and errors. Vulnerable libraries (10003) are what `make audit` looks for; times and digests (10096, 10097) are data.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Response } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { send } from "../support/dashboard.ts";
import { useDashboard } from "../support/dashboard-page.ts";
import { makeEveryPage, show } from "../support/every-page.ts";

const dashboard = useDashboard();
const { api } = dashboard;

interface Seen {
  readonly url: URL;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

const seen: Seen[] = [];
let inner = 0;

beforeAll(async () => {
  const client = await api.tenant();
  const { paths, datasetId } = await makeEveryPage(api, client);
  const { page } = await dashboard.browser.page();
  const answers: Promise<void>[] = [];
  const keep = (response: Response) => {
    if (!response.url().startsWith(api.url) || response.url().endsWith("/events/stream")) return;
    const read = async () => {
      const headers = await response.allHeaders();
      const text = await response.text().catch(() => "");
      seen.push({ url: new URL(response.url()), status: response.status(), headers, text });
    };
    answers.push(read());
  };
  page.on("response", keep);
  // Without the browser's cache, whose answers lack headers.
  await page.route("**", (route) => route.continue());
  await page.goto(`${api.url}/dashboard/`);
  await page.getByLabel("API key", { exact: true }).fill(client.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("main").getByRole("heading", { name: "Overview" }).waitFor();
  for (const path of [...paths, "components"]) {
    await show(page, path === "components" ? "" : path);
    inner += Number(
      await page.evaluate(
        `document.querySelectorAll("a[target]:not([rel~=noopener]), form[action], iframe, object, embed").length`,
      ),
    );
  }
  page.off("response", keep);
  await Promise.all(answers);
  await page.close();
  const asked = [
    ...readdirSync(join(dashboard.dist, "assets")).map((name) => `/dashboard/assets/${name}`),
    ...[
      "",
      "/",
      "/assets/",
      "/assets",
      "/assets/x.js.map",
      "/session",
      "/session/../../etc/passwd",
      "/.git/config",
      "/.env",
    ].map((path) => `/dashboard${path}`),
    "/dashboard/api/v1/datasets",
    "/dashboard/api/v1/datasets/x",
    `/dashboard/api/v1/datasets/${datasetId}`,
    "/dashboard/api/v1/datasets?page=%00'\"<script>",
    "/robots.txt",
    "/sitemap.xml",
    "/",
    "/docs",
  ];
  for (const path of asked)
    for (const method of ["GET", "POST"]) {
      const { status, headers, text } = await send(api.url, method, path, {
        body: method === "POST" ? "{" : undefined,
      });
      seen.push({ url: new URL(path, api.url), status, headers: headers as Seen["headers"], text });
    }
}, 300_000);

const isPage = ({ headers }: Seen) => headers["content-type"]?.startsWith("text/html") ?? false;
const isAsset = ({ url }: Seen) => url.pathname.includes("/assets/");
const isCode = ({ url }: Seen) => /\.(js|css)$/.test(url.pathname);
const isData = ({ url }: Seen) => /\/(api|session)(\/|$)/.test(url.pathname);
const policyOf = ({ headers }: Seen) => headers["content-security-policy"] ?? "";

/** Each says whether an answer breaks it. */
const rules: Readonly<Record<string, (answer: Seen) => boolean>> = {
  "2 private addresses": (answer) =>
    !isData(answer) && /\b(10\.\d+|192\.168|172\.(1[6-9]|2\d|3[01]))\.\d+\.\d+\b/.test(answer.text),
  "3, 10024 secrets in addresses": ({ url }) => /pl_|token|session=|sid=|password|key=/i.test(url.search),
  "10010, 10011, 10029, 10054, 90033 cookies": ({ headers: { "set-cookie": cookie } }) =>
    cookie !== undefined &&
    !/^__Host-\w+=[\w-]*; Path=\/; HttpOnly; SameSite=Strict; Secure(; Max-Age=0)?$/.test(cookie),
  "10015, 10049, 10050 caches": (answer) =>
    answer.headers.age !== undefined ||
    (isData(answer) && !/^(no-store|private, no-cache)$/.test(answer.headers["cache-control"] ?? "")),
  "10017, 10040, 90003, 10115 other hosts": (answer) =>
    isPage(answer) && /(src|href)="?'?(https?:)?\/\//.test(answer.text),
  "10019, 10021, 90011 types": ({ status, headers }) =>
    headers["x-content-type-options"] !== "nosniff" ||
    (status !== 204 && status !== 304 && status !== 308 && headers["content-type"] === undefined) ||
    (/^text\/(html|css|javascript)/.test(headers["content-type"] ?? "") &&
      !/charset=utf-8$/.test(headers["content-type"] ?? "")),
  "10020, 10038 framing and policy": (answer) =>
    !policyOf(answer).includes("default-src 'none'") || !policyOf(answer).includes("frame-ancestors 'none'"),
  "10055 a weak policy": (answer) =>
    /unsafe-|\*|\bhttps?:(?!\/\/)|(script|style|connect|default)-src[^;]*(data|blob):/.test(
      policyOf(answer),
    ) ||
    (isPage(answer) && !/form-action 'none'.*|base-uri '(self|none)'/.test(policyOf(answer))),
  "10023, 90022, 10099 messages of errors and sources": (answer) =>
    answer.status >= 500 ||
    (!isAsset(answer) && /\n\s+at .+:\d+:\d+|node_modules\/|select .+ from |<\?php|ECONN/i.test(answer.text)),
  "10027 comments": (answer) =>
    (isPage(answer) && answer.text.includes("<!--")) ||
    (isCode(answer) && /sourceMappingURL|\b(TODO|FIXME|XXX)\b/.test(answer.text)),
  "10028, 10044 redirects": ({ headers: { location = "" }, text, status }) =>
    /^([a-z]+:|\/\/)/i.test(location) || (status >= 300 && status < 400 && text.length > 300),
  "10033 lists of files": ({ text }) => /index of \//i.test(text),
  "10036, 10037, 10039, 10052, 10056, 10061 names of programs": ({ headers }) =>
    /\b(server|via|x-(powered-by|backend|aspnet|debug|chromelogger|generator|runtime))/i.test(
      Object.keys(headers).join(),
    ),
  "10063 permissions": (answer) =>
    isPage(answer) &&
    answer.url.pathname.startsWith("/dashboard/") &&
    answer.headers["permissions-policy"] === undefined,
  "10098 other origins": ({ headers }) => headers["access-control-allow-origin"] !== undefined,
  "10105 weak credentials": ({ headers }) => /basic|digest/i.test(headers["www-authenticate"] ?? ""),
  "10110 dangerous functions": (answer) =>
    isCode(answer) && /\beval\(|new Function\(|document\.write\(/.test(answer.text),
  "90004 isolation": (answer) =>
    answer.url.pathname.startsWith("/dashboard") &&
    (answer.headers["cross-origin-resource-policy"] !== "same-origin" ||
      (isPage(answer) && answer.headers["cross-origin-opener-policy"] !== "same-origin")),
};

it.each(Object.entries(rules))("rule %s: no answer breaks it", (_, isBroken) => {
  const broken = seen.filter((answer) => isBroken(answer));
  expect(
    broken.map(
      ({ url, status, headers }) => `${status} ${url.pathname} ${JSON.stringify(headers).slice(0, 300)}`,
    ),
  ).toEqual([]);
});

it("rules 10031, 10041, 10108, 10202: no page has forms with an address, frames, or windows that know their opener", () => {
  expect(inner).toBe(0);
  expect(seen.filter(isPage).length).toBeGreaterThan(1);
  expect(seen.filter(isCode).length).toBeGreaterThan(50);
  expect(seen.filter(isData).length).toBeGreaterThan(50);
});
