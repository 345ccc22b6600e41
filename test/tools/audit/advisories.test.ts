// The parsers of `make audit` for the reports of npm audit, pip-audit and govulncheck: a service that does not answer
// never counts as "no findings".
import { describe, expect, it } from "vitest";
import { readGovulncheck, readNpm, readPipAudit } from "../../../tools/audit/advisories.ts";
import { each, failure, Unreachable } from "../../../tools/audit/run.ts";

describe("npm audit", () => {
  const metadata = { dependencies: { total: 307 } };

  it("reports a package and its advisory once, and not for each package that depends on it", () => {
    const advisory = {
      source: 1,
      name: "koa",
      range: "<3.0.1",
      title: "Open redirect",
      url: "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
    };
    const report = { vulnerabilities: { koa: { via: [advisory] }, app: { via: ["koa"] } }, metadata };
    expect(readNpm(JSON.stringify(report))).toEqual({
      packages: 307,
      advisories: [
        { ids: ["GHSA-aaaa-bbbb-cccc"], text: expect.stringContaining("koa <3.0.1: Open redirect") },
      ],
    });
  });

  it("reports no advisory without vulnerabilities", () => {
    expect(readNpm(JSON.stringify({ vulnerabilities: {}, metadata }))).toEqual({
      packages: 307,
      advisories: [],
    });
  });

  it("counts as unreachable if the service refuses the request", () => {
    const refusal = { message: "405 Method Not Allowed - POST", statusCode: 405, error: { summary: "" } };
    expect(() => readNpm(JSON.stringify(refusal))).toThrow(Unreachable);
  });

  it("fails on any other report", () => {
    const error = { error: { code: "ENOLOCK", summary: "This command requires an existing lockfile." } };
    expect(() => readNpm(JSON.stringify(error))).toThrow(/failed/);
    expect(() => readNpm(JSON.stringify(error))).not.toThrow(Unreachable);
  });
});

describe("pip-audit", () => {
  const vulnerable = {
    name: "jinja2",
    version: "3.1.5",
    vulns: [{ id: "PYSEC-2026-1", aliases: ["CVE-2026-1"], fix_versions: ["3.1.6"], description: "" }],
  };
  const unknown = { name: "torch", skip_reason: "Dependency not found on PyPI" };

  it("reports the package, the advisory and the fixed version", () => {
    expect(readPipAudit(JSON.stringify({ dependencies: [vulnerable], fixes: [] }))).toEqual({
      packages: 1,
      advisories: [
        {
          ids: ["PYSEC-2026-1", "CVE-2026-1"],
          text: "jinja2 3.1.5: PYSEC-2026-1, CVE-2026-1, fixed in 3.1.6",
        },
      ],
    });
  });

  it("counts packages without an answer as unchecked, and still reports findings in the others", () => {
    const report = readPipAudit(JSON.stringify({ dependencies: [unknown, vulnerable], fixes: [] }));
    expect(report.unreachable).toContain("1 of 2 packages");
    expect(report.advisories).toHaveLength(1);
  });
});

describe("govulncheck", () => {
  const finding = (trace: object) => ({
    finding: { osv: "GO-2026-1", fixed_version: "v1.2.0", trace: [trace] },
  });
  const module = { module: "example.org/a", version: "v1.1.0" };
  const stream = (...messages: object[]) =>
    messages.map((message) => `${JSON.stringify(message, undefined, 2)}\n`).join("");
  const list = { SBOM: { go_version: "go1.26.8", modules: [module] } };

  it("reports vulnerable packages that are compiled in, not modules without such a package", () => {
    const compiled = finding({ ...module, package: "example.org/a/b" });
    expect(readGovulncheck(stream(list, finding(module))).advisories).toEqual([]);
    expect(readGovulncheck(stream(list, finding(module), compiled)).advisories).toEqual([
      { ids: ["GO-2026-1"], text: "example.org/a/b (example.org/a@v1.1.0): GO-2026-1, fixed in v1.2.0" },
    ]);
  });

  it("fails if it ended before it listed the modules", () => {
    expect(() => readGovulncheck(stream({ config: {} }))).toThrow(/no list of modules/);
  });
});

describe("a program that ended without a report", () => {
  it.each([
    "dial tcp: lookup example.org on 192.0.2.1:53: no such host",
    "npm error request failed, reason: getaddrinfo ENOTFOUND example.org",
    "ERROR: HTTP error 503 while getting the index",
    "reading example.org/a: 403 Forbidden",
  ])("counts as unreachable with the output: %s", (text) => {
    expect(failure("program", text)).toBeInstanceOf(Unreachable);
  });

  it.each(["unknown flag: --jsno", "found 500 problems", ""])(
    "counts as failed with the output: %j",
    (text) => {
      expect(failure("program", text)).not.toBeInstanceOf(Unreachable);
    },
  );
});

describe("several lock files", () => {
  it("are all checked, even if the source of one cannot be reached", () => {
    const { results, unreachable } = each([1, 2, 3], (item) => {
      if (item === 2) throw new Unreachable("no such host");
      return item;
    });
    expect(results).toEqual([1, 3]);
    expect(unreachable).toBe("1 of 3: no such host");
  });

  it("fail if one of them cannot be read", () => {
    expect(() =>
      each([1], () => {
        throw new Error("not JSON");
      }),
    ).toThrow("not JSON");
  });
});
