// The files for GitHub: valid YAML and JSON, workflows with read permissions that call existing targets, complete issue
// forms, and patterns of Renovate that match the repository's files.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const files = (pattern: string) => globSync(pattern, { cwd: root, exclude: ["**/node_modules/**"] }).sort();

const makeTargets = new Set(
  [...read("Makefile").matchAll(/^([a-z][a-z-]*):(?!=)/gm)].map(([, target]) => target),
);
/** Targets in commands and in code spans: `make test`, not "make sure". */
const targetsIn = (text: string) =>
  [...text.matchAll(/(?:^|`)\s*make(?: -s)? ([a-z-]+)/gm)].map(([, target]) => target);

const step = z.union([z.object({ run: z.string() }), z.object({ uses: z.string() })]);
const workflow = z.object({
  permissions: z.record(z.string(), z.enum(["read", "none"])),
  jobs: z.record(z.string(), z.object({ "timeout-minutes": z.number(), steps: z.array(step) })),
});

describe.each(files(".github/workflows/*.yml"))("%s", (file) => {
  const { jobs } = workflow.parse(parse(read(file)));
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const commands = steps.flatMap((one) => ("run" in one ? [one.run] : []));

  it("calls make targets and programs that exist", () => {
    const called = commands.flatMap(targetsIn);
    expect(called).not.toEqual([]);
    for (const target of called) expect(makeTargets).toContain(target);
    for (const [program] of commands.join("\n").matchAll(/^\.\S+/gm))
      expect(existsSync(join(root, program))).toBe(true);
  });

  it("uses only GitHub's own actions, pinned by commit", () => {
    for (const one of steps) if ("uses" in one) expect(one.uses).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/);
  });
});

describe("issue forms", () => {
  const form = z.object({
    name: z.string(),
    description: z.string(),
    body: z.array(
      z.union([
        z.object({ type: z.literal("markdown"), attributes: z.object({ value: z.string() }) }),
        z.object({
          type: z.enum(["input", "textarea", "checkboxes"]),
          id: z.string(),
          attributes: z.object({ label: z.string() }),
        }),
        z.object({
          type: z.literal("dropdown"),
          id: z.string(),
          attributes: z.object({ label: z.string(), options: z.array(z.string()).min(2) }),
        }),
      ]),
    ),
  });

  it.each(["bug", "feature"])("%s has the fields that GitHub requires, with unique ids", (name) => {
    const { body } = form.parse(parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)));
    const ids = body.flatMap((one) => ("id" in one ? [one.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("are required: blank issues are disabled", () => {
    expect(parse(read(".github/ISSUE_TEMPLATE/config.yml"))).toEqual({ blank_issues_enabled: false });
  });
});

describe("a document for contributors", () => {
  const prose = ["SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", ".github/pull_request_template.md"];

  it.each(prose)("such as %s refers only to existing make targets and files", (file) => {
    const text = read(file);
    for (const target of targetsIn(text)) expect(makeTargets).toContain(target);
    for (const [, link = ""] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      expect(existsSync(join(root, dirname(file), link)), link).toBe(true);
  });
});

describe("Renovate", () => {
  const renovate = z
    .object({
      "pip-compile": z.object({ managerFilePatterns: z.array(z.string()) }),
      customManagers: z.array(
        z.object({ managerFilePatterns: z.array(z.string()), matchStrings: z.array(z.string()) }),
      ),
    })
    .parse(JSON.parse(read(".github/renovate.json")));
  const matches = (patterns: string[], path: string) =>
    patterns.some((pattern) => new RegExp(pattern.slice(1, -1)).test(path));

  it("matches every list of Python packages, whose pip-compile command has the expected options", () => {
    const lists = files("{images,test,tools}/**/requirements*.txt");
    expect(lists.length).toBeGreaterThan(6);
    for (const list of lists) {
      expect(matches(renovate["pip-compile"].managerFilePatterns, list), list).toBe(true);
      const command = /^# {4}pip-compile (.*)$/m.exec(read(list))?.[1] ?? "";
      const options = command.split(" ").map((option) => option.split("=")[0]);
      expect(options.sort(), list).toEqual(
        [
          "--allow-unsafe",
          "--generate-hashes",
          "--no-emit-index-url",
          "--output-file",
          "--strip-extras",
        ].concat(list.replace(/.*\//, "").replace(/txt$/, "in")),
      );
    }
  });

  it("matches the versions in scripts that it must update", () => {
    for (const { managerFilePatterns, matchStrings } of renovate.customManagers) {
      const seen = files("tools/**/*.{sh,ts}").filter((file) => matches(managerFilePatterns, file));
      expect(seen).toHaveLength(1);
      for (const pattern of matchStrings) expect(read(seen[0] ?? "")).toMatch(new RegExp(pattern));
    }
  });
});
