// Plays a detection with half a second around it.
import { Icon } from "../components/icon.tsx";
import { play, playing, type Recording, stop } from "./player.ts";

export function PlayButton({
  id,
  domId,
  label,
  recording,
  stretch,
  onPlay,
}: {
  id: string;
  /** For those who move the focus here. */
  domId?: string;
  /** What is played: "click at 0:01.250". */
  label: string;
  recording: Recording;
  stretch: { readonly fromMs: number; readonly toMs: number };
  onPlay?: () => void;
}) {
  const isPlaying = playing.value === id;
  return (
    <button
      type="button"
      class="play"
      id={domId}
      aria-label={`${isPlaying ? "Stop" : "Play"} ${label}`}
      aria-pressed={isPlaying}
      onClick={() => {
        if (isPlaying) return stop();
        onPlay?.();
        void play(id, recording, stretch);
      }}
    >
      <Icon name={isPlaying ? "pause" : "play"} size={14} />
    </button>
  );
}
