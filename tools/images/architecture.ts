// The processor architecture of the images. Called by the other files of this folder and by tools/release.

export type Architecture = "amd64" | "arm64";

const names: Readonly<Partial<Record<NodeJS.Architecture, Architecture>>> = { x64: "amd64", arm64: "arm64" };
/** As npm names the packages of Node. */
export const nodeNames: Readonly<Record<Architecture, string>> = { amd64: "x64", arm64: "arm64" };

/** This machine's. */
export function ownArchitecture(): Architecture {
  const own = names[process.arch];
  if (own === undefined) throw new Error(`there are no images for ${process.arch}`);
  return own;
}

/** The other architecture for which images are built, if PLOSIVE_ARCHITECTURE names one. QEMU runs its programs. */
export function foreignArchitecture(): Architecture | undefined {
  const asked = process.env.PLOSIVE_ARCHITECTURE;
  if (!asked || asked === ownArchitecture()) return undefined;
  return parseArchitecture(asked);
}

export function parseArchitecture(name: string): Architecture {
  if (name !== "amd64" && name !== "arm64")
    throw new Error(`there are no images for ${name}: only amd64, arm64`);
  return name;
}
