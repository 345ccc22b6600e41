// What `make audit` accepts: licenses, packages under other licenses, and advisories, each exception with its reason.
// Read by licenses.ts and advisories.ts. Secrets have their own list: .gitleaks.toml.

export interface Policy {
  readonly licenses: readonly string[];
  /** A name may end in `*`. The package must declare exactly this license; "" is a package that declares none. */
  readonly packages: readonly { readonly names: readonly string[]; license: string; reason: string }[];
}

export const policy: Policy = {
  // SPDX identifiers of permissive licenses. "BSD" is a package that says no more than that.
  licenses: [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "PSF-2.0",
    "Unlicense",
    "Zlib",
  ],
  packages: [
    {
      names: ["soxr"],
      license: "LGPL-2.1-or-later",
      reason:
        "Unmodified, a package of its own in the image's Python environment, where anyone can replace it.",
    },
    {
      names: ["github.com/hashicorp/*"],
      license: "MPL-2.0",
      reason:
        "Unmodified. Section 3.2 asks that the source can be had: it is the public module of that name and version.",
    },
    {
      names: ["nvidia-*"],
      license: "LicenseRef-NVIDIA-Proprietary",
      reason:
        "The CUDA libraries that PyTorch's wheel requires; in the trainer image only. Whoever publishes that image " +
        "accepts NVIDIA's conditions of redistribution. The worker image contains none of them.",
    },
    {
      names: ["cuda-toolkit"],
      license: "",
      reason: "A list of dependencies on other packages: its wheel contains no files but metadata.",
    },
  ],
};

/** Advisories that do not affect Plosive, or that have no fixed version yet: identifier -> reason. */
export const allowedAdvisories: Readonly<Record<string, string>> = {};
