// The import rule of ARCHITECTURE.md, checked on the import lines: which folder may import which, and which package is
// confined to which folder.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { circlesOf, importsOf, repositoryFiles } from "../tools/testing/imports.ts";

const root = join(import.meta.dirname, "..");
const rootFiles = [
  "src/config",
  "src/database-gauge",
  "src/errors",
  "src/log",
  "src/loop",
  "src/metrics",
  "src/slices",
  "src/tracing",
];

/** Folder -> folders that it may import besides itself. Longest name wins. A folder ending in .ts is one file. */
const folders: Record<string, string[]> = {
  "src/schemas": [],
  "src/config.ts": ["src/schemas", "src/tracing"],
  "src/database-gauge.ts": ["src/log"],
  "src/errors.ts": ["src/schemas"],
  "src/log.ts": ["src/schemas"],
  "src/loop.ts": ["src/log"],
  "src/metrics.ts": ["src/schemas"],
  "src/slices.ts": [],
  "src/tracing.ts": ["src/log"],
  "src/db": ["src/schemas", ...rootFiles],
  "src/db/driver": ["src/schemas", ...rootFiles],
  "src/db/operator": ["src/db", "src/schemas", ...rootFiles],
  "src/kube": ["src/schemas", ...rootFiles],
  "src/storage": ["src/schemas", ...rootFiles],
  "src/submit.ts": ["src/schemas", "src/db", "src/kube", ...rootFiles],
  "src/events.ts": ["src/db", ...rootFiles],
  "src/webhooks": ["src/schemas", "src/db", ...rootFiles],
  "src/uploads": ["src/schemas", "src/db", "src/storage", "src/webhooks", ...rootFiles],
  "src/api": [
    "src/schemas",
    "src/db",
    "src/storage",
    "src/submit",
    "src/uploads",
    "src/webhooks",
    ...rootFiles,
  ],
  "src/gen": ["src/schemas", "src/api"],
  // A client is a separate program: it knows the description of the API and none of our code.
  client: [],
  // The dashboard is a client too.
  web: ["client"],
  "src/main.ts": [
    "src/api",
    "src/db",
    "src/events",
    "src/kube",
    "src/storage",
    "src/schemas",
    "src/submit",
    "src/uploads",
    ...rootFiles,
  ],
  "src/bootstrap.ts": ["src/api", "src/db", "src/kube", "src/storage", "src/schemas", ...rootFiles],
  "src/secrets": ["src/kube", ...rootFiles],
  "src/admin": ["src/api", "src/db", "src/schemas", ...rootFiles],
  "src/admin.ts": ["src/admin", "src/db", "src/schemas", ...rootFiles],
  "controllers/runtime": ["src/kube", "src/schemas/kind", "src/schemas/condition", ...rootFiles],
  "controllers/main.ts": ["controllers", "src"],
  "controllers/runs/main.ts": ["controllers", "src"],
  "controllers/controllers.ts": ["controllers", "src"],
  "controllers/background.ts": ["src/db", "src/storage", "src/uploads", "src/webhooks", ...rootFiles],
  controllers: [
    "controllers/runtime",
    "src/schemas",
    "src/db",
    "src/kube",
    "src/storage",
    "src/submit",
    ...rootFiles,
  ],
};

/** Package -> the only folder whose files import it. */
const drivers: Record<string, string[]> = {
  slonik: ["src/db"],
  pg: ["src/db"],
  "@kubernetes/client-node": ["src/kube"],
  "@aws-sdk/client-s3": ["src/storage"],
  "@aws-sdk/s3-presigned-post": ["src/storage"],
  koa: ["src/api"],
  "@koa/router": ["src/api"],
  "openapi-fetch": ["client"],
  "openid-client": ["src/api"],
  jose: ["src/kube"],
  "@opentelemetry/api": ["src/tracing.ts"],
  "@opentelemetry/sdk-trace": ["src/tracing.ts"],
  "@opentelemetry/resources": ["src/tracing.ts"],
  "@opentelemetry/exporter-trace-otlp-http": ["src/tracing.ts"],
  preact: ["web"],
  "preact/hooks": ["web"],
  "@preact/signals": ["web"],
  uplot: ["web"],
};

/** Folders under controllers/ that must not import each other. */
const siblings = readdirSync(join(root, "controllers"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "runtime")
  .map((entry) => `controllers/${entry.name}`);

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function within(path: string, folder: string): boolean {
  return path === folder || path === `${folder}.ts` || path.startsWith(`${folder}/`);
}

function folderOf(file: string): string | undefined {
  return Object.keys(folders)
    .filter((folder) => within(file, folder))
    .sort((a, b) => b.length - a.length)[0];
}

const generated = ["client/schema.ts"];
const files = [...sources("src"), ...sources("controllers"), ...sources("client"), ...sources("web/src")];
const imports = files.flatMap(importsOf);

describe("the import rule", () => {
  it("assigns every source file to a folder", () => {
    expect(files.length).toBeGreaterThan(30);
    expect(files.filter((file) => folderOf(file) === undefined)).toEqual([]);
  });

  it("permits a folder only the imports that ARCHITECTURE.md lists", () => {
    const wrong = imports
      .filter((line) => !line.isPackage)
      .filter((line) => {
        const folder = folderOf(line.file);
        if (folder === undefined) return true;
        const own = folder.endsWith(".ts")
          ? dirname(folder) === dirname(line.target) && line.target === folder
          : within(line.target, folder);
        return !own && !(folders[folder] ?? []).some((allowed) => within(line.target, allowed));
      })
      .map((line) => `${line.file} imports ${line.target}`);
    expect(wrong).toEqual([]);
  });

  it("keeps the kinds of the operator independent of each other", () => {
    const wrong = imports
      .filter((line) => !line.isPackage)
      .filter((line) => {
        const from = siblings.find((folder) => within(line.file, folder));
        const to = siblings.find((folder) => within(line.target, folder));
        return from !== undefined && to !== undefined && from !== to && !to.endsWith("/job");
      })
      .map((line) => `${line.file} imports ${line.target}`);
    expect(wrong).toEqual([]);
  });

  it("permits no cycle, not even of types", () => {
    const all = repositoryFiles().filter((file) => /\.tsx?$/.test(file));
    expect(circlesOf(all.flatMap(importsOf))).toEqual([]);
  });

  it("permits zod as the only import of src/schemas", () => {
    const wrong = imports.filter(
      (line) => line.isPackage && within(line.file, "src/schemas") && line.target !== "zod",
    );
    expect(wrong).toEqual([]);
  });

  it("confines each driver package to one folder", () => {
    const wrong = imports
      .filter((line) => line.isPackage && line.target in drivers)
      .filter((line) => !(drivers[line.target] ?? []).some((folder) => within(line.file, folder)))
      .map((line) => `${line.file} imports ${line.target}`);
    expect(wrong).toEqual([]);
  });

  it("permits only src/config.ts to read the environment", () => {
    const readers = files.filter((file) => /process\.env/.test(readFileSync(join(root, file), "utf8")));
    expect(readers).toEqual(["src/config.ts"]);
  });

  it("requires an opening comment and at most 400 lines in every source file", () => {
    const wrong = files.filter((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return !text.startsWith("//") || (text.split("\n").length > 401 && !generated.includes(file));
    });
    expect(wrong).toEqual([]);
  });
});

it("migrations are numbered one by one, so that two branches cannot add the same number", () => {
  const numbers = readdirSync(join(root, "src/db/migrations")).map((name) => Number(name.slice(0, 4)));
  expect(numbers.sort((a, b) => a - b)).toEqual(numbers.map((_, i) => i + 1));
});
