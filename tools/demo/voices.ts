// Composes the demo's takes (tools/voices, Python), caches them by their arguments and reads their truth. Called by
// play.ts and by the end-to-end test.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { cacheDir, repoDir } from "../cache.ts";

const truthEntry = z.object({
  file: z.string(),
  speaker: z.string(),
  language: z.string(),
  artifact_type: z.string(),
  start_ms: z.int(),
  end_ms: z.int(),
});
const indexEntry = z.object({
  file: z.string(),
  part: z.enum(["train", "test"]),
  speaker: z.string(),
  language: z.string(),
  duration_ms: z.int(),
  size_bytes: z.int(),
});

export type Truth = z.infer<typeof truthEntry>;

export interface Part {
  /** Absolute paths of the takes. */
  readonly paths: readonly string[];
  /** The inserted artifacts; `file` is the base name of the take. */
  readonly truth: readonly Truth[];
  readonly speakers: readonly string[];
  readonly languages: readonly string[];
  readonly durationMs: number;
  readonly sizeBytes: number;
}

export interface Voices {
  readonly train: Part;
  /** Takes of speakers that do not occur in `train`. */
  readonly test: Part;
}

export interface VoicesOptions {
  readonly trainMinutes: number;
  readonly testMinutes: number;
  readonly seed: number;
}

/** The Python that `make deps` installs, with numpy, scipy and soundfile. */
export const python = join(cacheDir, "venv", "bin", "python");

/** Returns the takes for these options; composes them if they are not in the cache. */
export async function composeVoices(options: VoicesOptions): Promise<Voices> {
  const args = [
    ...["--train-minutes", String(options.trainMinutes)],
    ...["--test-minutes", String(options.testMinutes)],
    ...["--seed", String(options.seed)],
  ];
  const folder = join(cacheDir, "voices", keyOf(args));
  if (!existsSync(folder)) {
    mkdirSync(join(cacheDir, "voices"), { recursive: true });
    // Composes into a temporary folder first: an interrupted composition must not look complete.
    const temporary = mkdtempSync(join(cacheDir, "voices", ".composing-"));
    try {
      await run(python, ["-m", "voices", "--out", temporary, ...args]);
      if (!existsSync(folder)) renameSync(temporary, folder);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }
  const index = z.array(indexEntry).parse(JSON.parse(readFileSync(join(folder, "index.json"), "utf8")));
  return { train: readPart(folder, "train", index), test: readPart(folder, "test", index) };
}

function readPart(
  folder: string,
  part: "train" | "test",
  index: readonly z.infer<typeof indexEntry>[],
): Part {
  const takes = index.filter((take) => take.part === part);
  const sum = (pick: (take: z.infer<typeof indexEntry>) => number) =>
    takes.reduce((total, take) => total + pick(take), 0);
  return {
    paths: takes.map((take) => join(folder, take.file)),
    truth: z.array(truthEntry).parse(JSON.parse(readFileSync(join(folder, part, "truth.json"), "utf8"))),
    speakers: [...new Set(takes.map((take) => take.speaker))].sort(),
    languages: [...new Set(takes.map((take) => take.language))].sort(),
    durationMs: sum((take) => take.duration_ms),
    sizeBytes: sum((take) => take.size_bytes),
  };
}

/** The cache key: a hash of the arguments and of the code that composes the takes. */
function keyOf(args: readonly string[]): string {
  const source = join(repoDir, "tools", "voices");
  const hash = createHash("sha256").update(args.join(" "));
  for (const file of readdirSync(source)
    .filter((name) => name.endsWith(".py"))
    .sort()) {
    hash.update(readFileSync(join(source, file)));
  }
  return hash.digest("hex").slice(0, 12);
}

function run(command: string, args: readonly string[]): Promise<void> {
  if (!existsSync(command))
    return Promise.reject(new Error(`${command} is not installed: run \`make deps\``));
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, PYTHONPATH: join(repoDir, "tools") },
    });
    let tail = "";
    child.stderr.on("data", (chunk: Buffer) => {
      tail = (tail + chunk.toString("utf8")).slice(-2000);
    });
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`${command} ${args.join(" ")} failed with exit code ${code}: ${tail.trim()}`)),
    );
  });
}
