// Asks the advisory services about what is pinned in the repository, by npm audit, pip-audit and govulncheck. A package
// that a service does not know counts as not checked. Called by tools/audit/main.ts; the tests call the readers.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { cacheDir, repoDir, tool } from "../cache.ts";
import { allowedAdvisories } from "./allowed.ts";
import { each, failure, run, type Step } from "./run.ts";

export interface Advisory {
  /** Its identifiers in all databases. */
  readonly ids: readonly string[];
  readonly text: string;
}

export interface Report {
  readonly packages: number;
  readonly advisories: readonly Advisory[];
  readonly unreachable?: string;
}

const npmReport = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      via: z.array(
        z.union([
          z.string(),
          z.object({ name: z.string(), range: z.string(), title: z.string(), url: z.string() }),
        ]),
      ),
    }),
  ),
  metadata: z.object({ dependencies: z.object({ total: z.number() }) }),
});

export function readNpm(stdout: string): Report {
  const report = npmReport.safeParse(JSON.parse(stdout));
  if (!report.success) throw failure("npm audit", stdout);
  const { vulnerabilities, metadata } = report.data;
  return {
    packages: metadata.dependencies.total,
    advisories: Object.values(vulnerabilities)
      .flatMap(({ via }) => via)
      .filter((one) => typeof one !== "string")
      .map(({ name, range, title, url }) => ({
        ids: [url.split("/").at(-1) ?? url],
        text: `${name} ${range}: ${title} (${url})`,
      })),
  };
}

export function npmAdvisories(): Step {
  const files = tracked("**/package-lock.json");
  return summary(files, (file) => {
    const cwd = join(repoDir, dirname(file));
    const { stdout, stderr } = run("npm", ["audit", "--json", "--package-lock-only"], { cwd });
    if (stdout === "") throw failure("npm audit", stderr);
    return readNpm(stdout);
  });
}

const pipAuditReport = z.object({
  dependencies: z.array(
    z.union([
      z.object({ name: z.string(), skip_reason: z.string() }),
      z.object({
        name: z.string(),
        version: z.string(),
        vulns: z.array(
          z.object({ id: z.string(), aliases: z.array(z.string()), fix_versions: z.array(z.string()) }),
        ),
      }),
    ]),
  ),
});

/** pip-audit skips a package when the service answers 404, exits with 0 and says "No known vulnerabilities found". */
export function readPipAudit(stdout: string): Report {
  const { dependencies } = pipAuditReport.parse(JSON.parse(stdout));
  const answered = dependencies.filter((one) => "vulns" in one);
  const report = {
    packages: answered.length,
    advisories: answered.flatMap(({ name, version, vulns }) =>
      vulns.map(({ id, aliases, fix_versions }) => ({
        ids: [id, ...aliases],
        text: `${name} ${version}: ${[id, ...aliases].join(", ")}, fixed in ${fix_versions.join(", ") || "no version"}`,
      })),
    ),
  };
  const skipped = dependencies.filter((one) => "skip_reason" in one).map(({ name }) => name);
  if (skipped.length === 0) return report;
  const count = `${skipped.length} of ${dependencies.length} packages`;
  return { ...report, unreachable: `no answer for ${count}, the first is ${skipped[0]}` };
}

export function pythonAdvisories(): Step {
  const program = join(cacheDir, "audit-venv/bin/pip-audit");
  const options = [
    "--format=json",
    "--progress-spinner=off",
    "--disable-pip",
    "--require-hashes",
    "--aliases=on",
  ];
  return summary(tracked("**/requirements*.txt"), (file) => {
    const { stdout, stderr } = run(program, [...options, "-r", file]);
    if (stdout === "") throw failure("pip-audit", stderr);
    return readPipAudit(stdout);
  });
}

const goMessage = z.object({
  SBOM: z.object({ modules: z.array(z.unknown()) }).optional(),
  finding: z
    .object({
      osv: z.string(),
      fixed_version: z.string().optional(),
      trace: z.array(
        z.object({ module: z.string(), version: z.string().optional(), package: z.string().optional() }),
      ),
    })
    .optional(),
});

/**
 * The output is a stream of JSON messages. A finding without a package means that the module's affected package is not
 * compiled in.
 */
export function readGovulncheck(stdout: string): Report {
  const messages = stdout
    .split(/(?<=^\})\n/m)
    .filter((message) => message.trim() !== "")
    .map((message) => goMessage.parse(JSON.parse(message)));
  const modules = messages.find(({ SBOM }) => SBOM)?.SBOM?.modules;
  if (modules === undefined) throw new Error("govulncheck reported no list of modules");
  return {
    packages: modules.length,
    advisories: messages.flatMap(({ finding }) => {
      const place = finding?.trace[0];
      if (!finding || place?.package === undefined) return [];
      const fixed = finding.fixed_version ?? "no version";
      return {
        ids: [finding.osv],
        text: `${place.package} (${place.module}@${place.version}): ${finding.osv}, fixed in ${fixed}`,
      };
    }),
  };
}

export function goAdvisories(): Step {
  const families = readdirSync(join(repoDir, "tools/go")).map((family) => `tools/go/${family}`);
  return summary(families, (family) => {
    const { stdout } = run(tool("govulncheck"), ["-json", "-scan=package", "tool"], {
      cwd: join(repoDir, family),
      env: { GOFLAGS: "-mod=readonly" },
    }).orThrow();
    return readGovulncheck(stdout);
  });
}

/** The step's result from the reports on all lock files; each finding says which lock file it is about. */
function summary(files: readonly string[], check: (file: string) => Report): Step {
  const { results, unreachable } = each(files, (file) => ({ file, ...check(file) }));
  const findings = results.flatMap(({ file, advisories }) =>
    advisories
      .filter(({ ids }) => !ids.some((id) => id in allowedAdvisories))
      .map(({ text }) => `${file}: ${text}`),
  );
  const answered = results.filter(({ packages }) => packages > 0);
  const packages = answered.reduce((sum, report) => sum + report.packages, 0);
  const partial = results.find((report) => report.unreachable);
  return {
    checked: `${packages} packages in ${answered.length} of ${files.length} lock files`,
    findings: [...new Set(findings)],
    unreachable: unreachable ?? (partial && `${partial.file}: ${partial.unreachable}`),
  };
}

const tracked = (pattern: string): string[] =>
  run("git", ["ls-files", "--", `:(glob)${pattern}`])
    .orThrow()
    .stdout.split("\n")
    .filter((file) => file !== "");
