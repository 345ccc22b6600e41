// Plays one audio file at a time, by the signed address of its original bytes.
import { signal } from "@preact/signals";
import type { AudioFile } from "../../../../client/schema.ts";
import { api, body, reasonOf } from "../../app/api.ts";
import { Icon } from "../../components/icon.tsx";
import { notify } from "../../components/toast.tsx";

const playing = signal<string | undefined>(undefined);
let audio: HTMLAudioElement | undefined;

const addressOf = ({ dataset_id, id }: AudioFile) =>
  body(
    api.GET("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/download", {
      params: { path: { dataset_id, audio_file_id: id } },
    }),
  );

const failed = (what: string, file: AudioFile, error: unknown) =>
  notify(`${what} ${file.filename} failed: ${reasonOf(error)}`, {
    tone: "bad",
  });

export async function downloadFile(file: AudioFile): Promise<void> {
  try {
    const { url } = await addressOf(file);
    window.location.assign(url);
  } catch (error) {
    failed("Downloading", file, error);
  }
}

export function stopPlaying(): void {
  audio?.pause();
  audio = undefined;
  playing.value = undefined;
}

async function play(file: AudioFile): Promise<void> {
  stopPlaying();
  playing.value = file.id;
  const own = new Audio();
  own.onended = stopPlaying;
  audio = own;
  try {
    const { url } = await addressOf(file);
    if (audio !== own) return;
    own.src = url;
    await own.play();
  } catch (error) {
    // Another file was chosen meanwhile, or this one again.
    if (audio !== own) return;
    stopPlaying();
    failed("Playing", file, error);
  }
}

export function PlayButton({ file }: { file: AudioFile }) {
  const isPlaying = playing.value === file.id;
  return (
    <button
      type="button"
      class="play"
      aria-label={`${isPlaying ? "Stop" : "Play"} ${file.filename}`}
      aria-pressed={isPlaying}
      onClick={() => (isPlaying ? stopPlaying() : void play(file))}
    >
      <Icon name={isPlaying ? "pause" : "play"} size={14} />
    </button>
  );
}
