// Finds out which packages the images contain, and their licenses: npm from the lock file, PyPI from the index's
// metadata, Go from the module cache. Installs nothing. Called by tools/audit/main.ts.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { cacheDir, repoDir } from "../cache.ts";
import { licenseOfText, type Package, pythonLicense } from "./licenses.ts";
import { run } from "./run.ts";

/** By the part of an image that they are in; each throws Unreachable when its index does not answer. */
export const sources: readonly { title: string; packages: () => Package[] }[] = [
  { title: "Image server: npm", packages: () => sorted(fromNpm()) },
  {
    title: "Images worker and trainer: PyPI",
    packages: () => sorted(fromPyPi("images/worker/requirements.txt")),
  },
  {
    title: "Image trainer: PyPI",
    packages: () => sorted(fromPyPi("images/worker/requirements-train.txt")),
  },
  { title: "Image s3: Go modules", packages: () => sorted(fromGo("versitygw")) },
];

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string(), license: z.string().optional(), dev: z.boolean().optional() }),
  ),
});

/** Development dependencies whose code the image contains: the program `node`, and what Vite bundles for browsers. */
const shippedAllTheSame = ["node", "openapi-fetch", "preact", "@preact/signals", "@preact/signals-core"];

function fromNpm(): Package[] {
  const lock = lockFile.parse(JSON.parse(readFileSync(join(repoDir, "package-lock.json"), "utf8")));
  return Object.entries(lock.packages)
    .map(([path, entry]) => ({ ...entry, name: path.split("node_modules/").at(-1) ?? "" }))
    .filter(({ name, dev }) => name !== "" && (!dev || shippedAllTheSame.includes(name)))
    .map(({ name, version, license = "" }) => ({ name, version, license }));
}

const pipReport = z.object({
  install: z.array(
    z.object({
      metadata: z.object({
        name: z.string(),
        version: z.string(),
        license_expression: z.string().optional(),
        license: z.string().optional(),
        classifier: z.array(z.string()).optional(),
      }),
    }),
  ),
});

/** Without the hashes pip reads the metadata alone; with them it would download every wheel, gigabytes of CUDA. */
function fromPyPi(requirements: string): Package[] {
  const folder = mkdtempSync(join(tmpdir(), "plosive-audit-"));
  try {
    const list = join(folder, "requirements.txt");
    const pinned = readFileSync(join(repoDir, requirements), "utf8").matchAll(/^[\w.-]+==[^\\\n]+/gm);
    writeFileSync(list, [...pinned].map(([line]) => `${line}\n`).join(""));
    const options = [
      "--dry-run",
      "--ignore-installed",
      "--no-deps",
      "--only-binary=:all:",
      "--quiet",
      "--report=-",
    ];
    const pip = join(cacheDir, "audit-venv/bin/pip");
    const { stdout } = run(pip, ["install", "--disable-pip-version-check", ...options, "-r", list]).orThrow();
    return pipReport.parse(JSON.parse(stdout)).install.map(({ metadata }) => ({
      name: metadata.name,
      version: metadata.version,
      license: pythonLicense(metadata),
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The modules whose packages are compiled into the program; go.mod also names those of its tests. */
function fromGo(family: string): Package[] {
  const format = "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}";
  const { stdout } = run("go", ["list", "-deps", "-f", format, "tool"], {
    cwd: join(repoDir, "tools/go", family),
    env: { CGO_ENABLED: "0", GOFLAGS: "-mod=readonly" },
  }).orThrow();
  return [...new Set(stdout.split("\n").filter((line) => line !== ""))].map((line) => {
    const [name = "", version = "", folder = ""] = line.split("\t");
    const texts = readdirSync(folder)
      .filter((file) => /^(licen[cs]e|copying|unlicense)(\.|$)/i.test(file))
      .map((file) => readFileSync(join(folder, file), "utf8"));
    return { name, version, license: licenseOfText(texts.join("\n")) };
  });
}

function sorted(packages: readonly Package[]): Package[] {
  const byKey = new Map(packages.map((one) => [`${one.name.toLowerCase()} ${one.version}`, one]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}
