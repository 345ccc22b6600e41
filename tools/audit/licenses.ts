// Judges the licenses of packages and writes docs/licenses.md. Pure: shipped.ts finds out which packages we ship.
// Called by tools/audit/main.ts.
import type { Policy } from "./allowed.ts";

export interface Package {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression as far as the package declares one; "" if it declares nothing. */
  readonly license: string;
}

/** The packages that one package manager puts into an image. */
export interface Shipped {
  readonly title: string;
  readonly packages: readonly Package[];
}

/** Returns one sentence for each package that the policy does not allow. */
export function licenseFindings(packages: readonly Package[], policy: Policy): string[] {
  return packages
    .filter((one) => !isAllowed(one.license, policy.licenses) && exception(one, policy) === undefined)
    .map(({ name, version, license }) =>
      license === ""
        ? `${name} ${version} declares no license: add the package to tools/audit/allowed.ts with a reason, or remove it`
        : `${name} ${version} is under ${license}, which tools/audit/allowed.ts does not allow`,
    );
}

/** Nested expressions are not understood, and so not allowed: such a package needs an entry of its own. */
function isAllowed(expression: string, licenses: readonly string[]): boolean {
  return expression
    .replace(/^\(([^()]*)\)$/, "$1")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((license) => licenses.includes(license)));
}

function exception({ name, license }: Package, policy: Policy) {
  return policy.packages.find(
    (entry) =>
      entry.license === license &&
      entry.names.some((pattern) =>
        pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
      ),
  );
}

const aliases: Readonly<Record<string, string>> = {
  "Apache 2.0": "Apache-2.0",
  "Apache Software License": "Apache-2.0",
  "MIT License": "MIT",
  "3-Clause BSD License": "BSD-3-Clause",
  "BSD 3-Clause License": "BSD-3-Clause",
  "BSD License": "BSD",
  "NVIDIA Proprietary Software": "LicenseRef-NVIDIA-Proprietary",
};

/** Python metadata states a license in three ways, the newest first; the older field may hold the whole text. */
export function pythonLicense(metadata: {
  license_expression?: string | undefined;
  license?: string | undefined;
  classifier?: readonly string[] | undefined;
}): string {
  const short = metadata.license?.includes("\n") ? undefined : metadata.license;
  const classifier = metadata.classifier
    ?.find((one) => one.startsWith("License ::"))
    ?.split(" :: ")
    .at(-1);
  const stated = metadata.license_expression || short || classifier || "";
  return aliases[stated] ?? stated;
}

const sentences: readonly [license: string, sentence: RegExp][] = [
  ["AGPL", /GNU AFFERO GENERAL PUBLIC LICENSE/],
  ["LGPL", /GNU (LESSER|LIBRARY) GENERAL PUBLIC LICENSE/],
  ["GPL", /GNU GENERAL PUBLIC LICENSE/],
  ["MPL-2.0", /Mozilla Public License,? version 2\.0/i],
  ["Apache-2.0", /Apache License,? Version 2\.0/i],
  [
    "BSD-3-Clause",
    /Redistributions of source code must retain.*(Neither the name|to endorse or promote products)/,
  ],
  [
    "BSD-2-Clause",
    /Redistributions of source code must retain(?!.*(Neither the name|to endorse or promote products))/,
  ],
  ["MIT", /Permission is hereby granted, free of charge, to any person obtaining a copy/],
  ["ISC", /Permission to use, copy, modify, and(\/or)? distribute this software/],
];

/**
 * Go modules declare no license, so the license is recognized from the text of the license file. If the file contains
 * several licenses, all apply.
 */
export function licenseOfText(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return sentences
    .filter(([, sentence]) => sentence.test(line))
    .map(([license]) => license)
    .join(" AND ");
}

export function licensesDocument(shipped: readonly Shipped[], policy: Policy): string {
  const tables = shipped.map(({ title, packages }) => {
    const rows = packages.map(
      ({ name, version, license }) => `| ${name} | ${version} | ${license || "none stated"} |`,
    );
    return `## ${title}\n\n| package | version | license |\n|---|---|---|\n${rows.join("\n")}\n`;
  });
  const exceptions = policy.packages.map(
    ({ names, license, reason }) => `- \`${names.join("`, `")}\` (${license || "none stated"}): ${reason}`,
  );
  return `# Licenses of the packages that we ship

Written by \`make audit\`; do not edit. The tables name the license that each package declares, not those of libraries inside its wheel (soundfile contains libsndfile, LGPL-2.1-or-later). Go modules declare none: the text of their license file tells. Debian's packages in the images, among them ffmpeg and PostgreSQL, are not listed: Debian's archive states their licenses. Programs that only the tests and the local cluster use are not shipped.

\`tools/audit/allowed.ts\` lists the licenses that we accept. These packages are under others:

${exceptions.join("\n")}

${tables.join("\n")}`;
}
