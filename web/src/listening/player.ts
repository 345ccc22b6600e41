// Plays a stretch of a recording, one at a time, by the signed address of its original bytes.
import { signal } from "@preact/signals";
import { reasonOf } from "../app/api.ts";
import { notify } from "../components/toast.tsx";

export interface Recording {
  /** Names the recording; its address is asked for once while it is valid. */
  readonly key: string;
  readonly name: string;
  readonly address: () => Promise<{ readonly url: string; readonly expires_at: string }>;
}

/** The id of what is played now. */
export const playing = signal<string | undefined>(undefined);
/** Where in the recording that is. */
export const positionMs = signal<number | undefined>(undefined);

let audio: HTMLAudioElement | undefined;
let loaded: { readonly key: string; readonly until: number } | undefined;
let frame = 0;

/** The one element, in the document so that the browser's own controls for media know it. */
function element(): HTMLAudioElement {
  if (audio !== undefined) return audio;
  const made = document.createElement("audio");
  made.hidden = true;
  made.preload = "auto";
  document.body.append(made);
  audio = made;
  return made;
}

export function stop(): void {
  cancelAnimationFrame(frame);
  if (audio !== undefined) {
    audio.ontimeupdate = null;
    audio.onended = null;
    audio.pause();
  }
  playing.value = undefined;
  positionMs.value = undefined;
}

/** Addresses are renewed this long before they end. */
const earlyMs = 60_000;

export async function play(
  id: string,
  recording: Recording,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<void> {
  stop();
  playing.value = id;
  const sound = element();
  const isCurrent = () => playing.peek() === id;
  const fail = (error: unknown) => {
    // Something else is played now, or the user has stopped it.
    if (!isCurrent()) return;
    loaded = undefined;
    stop();
    const reason = error instanceof MediaFault ? error.message : reasonOf(error);
    notify(`Playing “${recording.name}” failed: ${reason}`, { tone: "bad" });
  };
  try {
    if (loaded?.key !== recording.key || loaded.until < Date.now()) {
      const { url, expires_at } = await recording.address();
      if (!isCurrent()) return;
      loaded = undefined;
      await ready(sound, url);
      loaded = { key: recording.key, until: Date.parse(expires_at) - earlyMs };
      if (!isCurrent()) return;
    }
    sound.currentTime = fromMs / 1000;
    const watch = () => {
      if (!isCurrent()) return;
      positionMs.value = sound.currentTime * 1000;
      if (sound.currentTime * 1000 >= toMs) stop();
    };
    const follow = () => {
      watch();
      if (isCurrent()) frame = requestAnimationFrame(follow);
    };
    sound.onerror = () => fail(new MediaFault(sound.error?.message || "the browser cannot play it"));
    // Frames are exact, but there are none while nobody sees the page.
    sound.ontimeupdate = watch;
    sound.onended = stop;
    await sound.play();
    if (isCurrent()) follow();
  } catch (error) {
    fail(error);
  }
}

class MediaFault extends Error {}

/** Loads the recording as far as its length is known. */
function ready(sound: HTMLAudioElement, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    sound.onloadedmetadata = () => resolve();
    sound.onerror = () =>
      reject(new MediaFault("the browser cannot read it, or the object store does not have it any more"));
    sound.src = url;
    sound.load();
  });
}
