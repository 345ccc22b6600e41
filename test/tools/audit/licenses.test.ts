// The license check of `make audit`: the packages that it reports, and the parsers of license declarations.
import { describe, expect, it } from "vitest";
import { policy } from "../../../tools/audit/allowed.ts";
import { licenseFindings, licenseOfText, pythonLicense } from "../../../tools/audit/licenses.ts";

const findings = (name: string, license: string) =>
  licenseFindings(
    [
      { name: "fine", version: "1.0.0", license: "MIT" },
      { name, version: "2.0.0", license },
    ],
    policy,
  );

describe("the license check", () => {
  it.each([
    "GPL-3.0-only",
    "AGPL-3.0-or-later",
    "MIT AND GPL-2.0-only",
    "SEE LICENSE IN LICENSE.txt",
    "UNLICENSED",
  ])("reports a package under %s, and no other", (license) => {
    expect(findings("forbidden", license)).toEqual([expect.stringMatching(/^forbidden 2\.0\.0 /)]);
  });

  it("reports a package that declares no license", () => {
    expect(findings("silent", "")).toEqual([expect.stringMatching(/^silent 2\.0\.0 declares no license/)]);
  });

  it.each(["Apache-2.0", "(MIT OR CC0-1.0)", "GPL-2.0-only OR MIT", "BSD-3-Clause AND 0BSD"])(
    "allows %s",
    (license) => {
      expect(findings("allowed", license)).toEqual([]);
    },
  );

  it("reports a package with an expression that it cannot parse", () => {
    expect(findings("nested", "(MIT OR GPL-2.0-only) AND (ISC OR GPL-2.0-only)")).toHaveLength(1);
  });

  it("applies an exception only to its packages and only under its license", () => {
    expect(findings("soxr", "LGPL-2.1-or-later")).toEqual([]);
    expect(findings("other", "LGPL-2.1-or-later")).toHaveLength(1);
    expect(findings("soxr", "GPL-3.0-only")).toHaveLength(1);
    expect(findings("github.com/hashicorp/go-cleanhttp", "MPL-2.0")).toEqual([]);
    expect(findings("cuda-toolkit", "")).toEqual([]);
  });

  it("gives a reason for each exception", () => {
    for (const { reason } of policy.packages) expect(reason.length).toBeGreaterThan(20);
  });
});

describe("the license of a Python package", () => {
  it("comes from its license expression, else from a short license field, else from its classifier", () => {
    const classifier = ["Topic :: Scientific", "License :: OSI Approved :: BSD License"];
    expect(pythonLicense({ license_expression: "MIT", license: "Apache 2.0", classifier })).toBe("MIT");
    expect(pythonLicense({ license: "Apache 2.0", classifier })).toBe("Apache-2.0");
    expect(pythonLicense({ license: "Copyright (c) 2001\nAll rights reserved", classifier })).toBe("BSD");
    expect(pythonLicense({ classifier: ["Topic :: Scientific"] })).toBe("");
  });
});

describe("the license file of a Go module", () => {
  const redistribution = "Redistributions of source code must retain the above\n copyright notice";

  it.each([
    ["MIT", "Permission is hereby granted, free of charge, to any\nperson obtaining a copy of this software"],
    ["Apache-2.0", "      Apache License\n    Version 2.0, January 2004"],
    ["BSD-2-Clause", redistribution],
    ["BSD-3-Clause", `${redistribution}\n * Neither the name of Google Inc. nor`],
    ["MPL-2.0", "Mozilla Public License, version 2.0\n Secondary License: the GNU General Public License"],
    ["GPL", "GNU GENERAL PUBLIC LICENSE\n Version 3"],
    ["AGPL", "GNU AFFERO GENERAL PUBLIC LICENSE"],
    [
      "BSD-2-Clause AND MIT",
      `${redistribution}\nPermission is hereby granted, free of charge, to any person obtaining a copy`,
    ],
    ["", "All rights reserved."],
  ])("is recognized as %j", (license, text) => {
    expect(licenseOfText(text)).toBe(license);
  });
});
