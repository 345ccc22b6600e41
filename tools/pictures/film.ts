// Pictures and films of a page as small files: PNG with a palette, animated WebP. Called by main.ts and by the trial of the
// alerts. Needs ffmpeg.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Page } from "playwright-core";

/** Readers of the README load all of them. */
const mostBytes = { png: 250_000, webp: 2_000_000 };

export async function writePicture(png: Buffer, path: string): Promise<void> {
  const palette =
    "split[a][b];[a]palettegen=stats_mode=single:reserve_transparent=0[p];[b][p]paletteuse=dither=none";
  await ffmpeg(png, "-f", "image2pipe", "-i", "-", "-vf", palette, "-pred", "mixed", path);
  await report(path, mostBytes.png);
}

export interface Film {
  /** Ends the film, and writes it with this width. */
  write(path: string, width: number): Promise<void>;
}

/** Films a page at the speed at which it changes. */
export async function startFilm(page: Page): Promise<Film> {
  const frames: { readonly at: number; readonly png: Buffer }[] = [];
  const session = await page.context().newCDPSession(page);
  session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
    frames.push({ at: metadata.timestamp ?? Date.now() / 1000, png: Buffer.from(data, "base64") });
    // It fails for the last frames, when the film has ended.
    session.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
  });
  await session.send("Page.startScreencast", { format: "png", everyNthFrame: 4 });
  return {
    async write(path, width) {
      await session.send("Page.stopScreencast");
      const folder = mkdtempSync(join(tmpdir(), "plosive-film-"));
      try {
        const list = frames.map(({ at, png }, i) => {
          const name = `${i}.png`;
          writeFileSync(join(folder, name), png);
          return `file ${name}\nduration ${((frames[i + 1]?.at ?? at + 1) - at).toFixed(3)}\n`;
        });
        const index = join(folder, "frames.txt");
        writeFileSync(index, list.join(""));
        const film = ["-c:v", "libwebp_anim", "-quality", "60", "-compression_level", "6", "-loop", "0"];
        await ffmpeg(
          undefined,
          ...["-f", "concat", "-i", index, "-vf", `fps=8,scale=${width}:-1:flags=lanczos`],
          ...film,
          path,
        );
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
      await report(path, mostBytes.webp);
    },
  };
}

async function report(path: string, most: number): Promise<void> {
  const { size } = statSync(path);
  console.log(`${basename(path)}: ${Math.round(size / 1000)} kB`);
  if (size > most)
    throw new Error(`${basename(path)} has ${size} bytes, more than ${most}: show less in it, or smaller`);
}

function ffmpeg(input: Buffer | undefined, ...args: string[]): Promise<void> {
  mkdirSync(dirname(args.at(-1) ?? ""), { recursive: true });
  const child = spawn("ffmpeg", ["-v", "error", "-y", ...args], {
    stdio: [input === undefined ? "ignore" : "pipe", "inherit", "inherit"],
  });
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`ffmpeg failed with exit code ${code}`)),
    );
  });
}
