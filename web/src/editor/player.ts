// Plays the file of the editor: from anywhere, at any speed, one region, or a loop. The browser streams the original bytes.
import { effect, type Signal, signal } from "@preact/signals";

export const speeds = [0.1, 0.25, 0.5, 1, 1.5, 2] as const;

export interface Player {
  readonly timeMs: Signal<number>;
  readonly isPlaying: Signal<boolean>;
  readonly speed: Signal<number>;
  readonly keepsPitch: Signal<boolean>;
  /** Plays until the end of the part, or in a loop of it; without a part, to the end of the file. */
  play(part?: { readonly fromMs: number; readonly toMs: number }, options?: { isLoop: boolean }): void;
  pause(): void;
  seek(ms: number): void;
  dispose(): void;
}

export function makePlayer(
  durationMs: number,
  url: () => Promise<string>,
  failed: (error: unknown) => void,
): Player {
  const audio = new Audio();
  audio.preload = "none";
  const timeMs = signal(0);
  const isPlaying = signal(false);
  const speed = signal(1);
  const keepsPitch = signal(true);
  let part: { fromMs: number; toMs: number; isLoop: boolean } | undefined;
  /** 0: nobody follows. */
  let frame = 0;
  /** Grows with every command: a start that was overtaken by another command does nothing. */
  let turn = 0;
  let current = "";

  const settle = () => {
    isPlaying.value = false;
    cancelAnimationFrame(frame);
    frame = 0;
  };
  const follow = () => {
    const now = audio.currentTime * 1000;
    if (part !== undefined && now >= part.toMs) {
      if (part.isLoop && part.toMs - part.fromMs >= 5) audio.currentTime = part.fromMs / 1000;
      else {
        audio.pause();
        timeMs.value = part.toMs;
        settle();
        return;
      }
    }
    timeMs.value = Math.min(durationMs, audio.currentTime * 1000);
    frame = requestAnimationFrame(follow);
  };

  async function start(fromMs: number): Promise<void> {
    const own = ++turn;
    isPlaying.value = true;
    try {
      const address = await url();
      if (own !== turn) return;
      if (address !== current) {
        audio.src = address;
        current = address;
      }
      audio.playbackRate = speed.peek();
      audio.preservesPitch = keepsPitch.peek();
      audio.currentTime = fromMs / 1000;
      await audio.play();
      if (own !== turn) return;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(follow);
    } catch (error) {
      if (own !== turn) return;
      current = "";
      settle();
      failed(error);
    }
  }

  const stopTuning = effect(() => {
    audio.playbackRate = speed.value;
    audio.preservesPitch = keepsPitch.value;
  });
  audio.onerror = () => {
    // A start that fails says so itself, and nobody follows before a start has succeeded.
    if (frame === 0) return;
    turn++;
    current = "";
    settle();
    failed(audio.error);
  };
  audio.onended = () => {
    timeMs.value = durationMs;
    settle();
  };

  return {
    timeMs,
    isPlaying,
    speed,
    keepsPitch,
    play(wanted, { isLoop } = { isLoop: false }) {
      part = wanted === undefined ? undefined : { ...wanted, isLoop };
      const now = timeMs.peek();
      void start(part?.fromMs ?? (now >= durationMs - 1 ? 0 : now));
    },
    pause() {
      turn++;
      audio.pause();
      settle();
    },
    seek(ms) {
      const to = Math.min(Math.max(0, ms), durationMs);
      // Leaving the part ends it.
      if (part !== undefined && (to < part.fromMs || to > part.toMs)) part = undefined;
      timeMs.value = to;
      if (isPlaying.peek()) audio.currentTime = to / 1000;
    },
    dispose() {
      stopTuning();
      turn++;
      settle();
      audio.pause();
      // Ends the download.
      audio.removeAttribute("src");
      audio.load();
    },
  };
}
