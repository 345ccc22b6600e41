// The documentation as a site: the Markdown files of the repository in the order in which people need them. `make docs` builds
// it into .plosive/site.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";

const root = join(import.meta.dirname, "../../..");
const item = (text, link) => ({ text, link });
const decisions = readdirSync(join(root, "docs/adr"))
  .filter((name) => /^\d+.*\.md$/.test(name))
  .sort()
  .map((name) => item(name.replace(/^(\d+)-(.*)\.md$/, (_, number, title) => `${Number(number)}: ${title.replaceAll("-", " ")}`), `/docs/adr/${name}`));

/** The anchors of GitHub, which the links use. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");

export default defineConfig({
  title: "Plosive",
  description: "Finds artifacts in voice audio: clicks, plosives, hum, clipping, dropouts, and whatever you label",
  lang: "en-GB",
  // Pages outside of this folder cannot import its packages, so `make docs` copies them.
  srcDir: "pages",
  rewrites: { "README.md": "index.md" },
  outDir: join(root, ".plosive/site"),
  cacheDir: join(root, ".plosive/site-cache"),
  // finish.ts checks all links and anchors.
  ignoreDeadLinks: true,
  markdown: { anchor: { slugify } },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: [
      { text: "Start", items: [item("What it is", "/"), item("The demo", "/docs/demo"), item("Install", "/docs/install")] },
      {
        text: "Use",
        items: [
          item("Requests", "/docs/requests"),
          item("Uploads", "/docs/uploads"),
          item("Events and webhooks", "/docs/events"),
          item("The typed client", "/docs/client"),
        ],
      },
      { text: "Label", items: [item("The dashboard", "/docs/dashboard"), item("Other labelling tools", "/docs/labelling")] },
      { text: "Train", items: [item("Detectors", "/docs/detection"), item("Encoders", "/docs/encoders")] },
      {
        text: "Operate",
        items: [
          item("Sizing", "/docs/sizing"),
          item("Jobs", "/docs/jobs"),
          item("Jobs with kubectl", "/docs/kubectl"),
          item("Limits, priorities, Kueue", "/docs/queueing"),
          item("Metrics", "/docs/metrics"),
          item("Alerts", "/docs/alerts"),
          item("Traces", "/docs/traces"),
          item("Security", "/docs/security"),
        ],
      },
      {
        text: "Reference",
        items: [
          item("REST interface and errors", "/docs/reference/rest"),
          item("Custom resources", "/docs/reference/custom-resources"),
          item("Values of the chart", "/charts/plosive/README"),
          item("Glossary", "/docs/glossary"),
          item("Licenses", "/docs/licenses"),
        ],
      },
      {
        text: "Measurements",
        items: [
          item("How it is measured", "/docs/benchmarks"),
          item("REST interface", "/docs/benchmarks-results"),
          item("One tenant attacks", "/docs/benchmarks/fair"),
          item("Dashboard", "/docs/benchmarks/dashboard"),
          item("Operator", "/docs/benchmarks-operator"),
          item("Outages", "/docs/benchmarks-operator-outages"),
          item("Detector", "/docs/benchmarks/detection"),
        ],
      },
      { text: "Change it", collapsed: true, items: [item("Contributing", "/CONTRIBUTING"), item("Architecture", "/ARCHITECTURE"), ...decisions] },
    ],
  },
});
