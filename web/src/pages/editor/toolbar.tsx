// What the editor can do besides labelling: playback, zoom, undo; each with its key in its title.
import type { Signal } from "@preact/signals";
import { IconButton } from "../../components/button.tsx";
import { Select } from "../../components/field.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import type { Controller } from "../../editor/controller.ts";
import { type Action, type Keymap, shownKey, wordsOfAction } from "../../editor/keymap.ts";
import { speeds } from "../../editor/player.ts";
import { positionText } from "./wave.tsx";

export function Toolbar({
  controller,
  keymap,
  showsSpectrogram,
}: {
  controller: Controller;
  keymap: Keymap;
  showsSpectrogram: Signal<boolean>;
}) {
  const { player, document, loops, snaps } = controller;
  const tool = (action: Action, icon: IconName, label = wordsOfAction(action), isOff = false) => (
    <IconButton
      icon={icon}
      label={label}
      title={`${label} (${shownKey(keymap[action]).join(" ")})`}
      aria-disabled={isOff ? "true" : undefined}
      onClick={() => controller.act(action)}
    />
  );
  return (
    <div class="editor-tools" role="group" aria-label="Tools">
      <div class="row">
        {tool("play", player.isPlaying.value ? "pause" : "play", player.isPlaying.value ? "Pause" : "Play")}
        <Position controller={controller} />
        {tool("previous", "left")}
        {tool("next", "right")}
        <Select
          label="Speed"
          isLabelHidden
          value={String(player.speed.value)}
          onValue={(speed) => {
            player.speed.value = Number(speed);
          }}
        >
          {speeds.map((speed) => (
            <option key={speed} value={String(speed)}>
              {speed}×
            </option>
          ))}
        </Select>
        <Toggle flag={player.keepsPitch} label="Keep pitch" />
        <Toggle flag={loops} label="Loop" />
        <Toggle flag={snaps} label="Snap to zero" />
        <Toggle flag={showsSpectrogram} label="Spectrogram" />
      </div>
      <div class="row">
        {tool("undo", "undo", "Undo", !document.canUndo.value)}
        {tool("redo", "redo", "Do again", !document.canRedo.value)}
        {tool("zoomOut", "minus")}
        {tool("zoomIn", "plus")}
        {tool("zoomRegion", "fit")}
        {tool("help", "keyboard")}
      </div>
    </div>
  );
}

/** A component of its own: it renders with each frame while it plays. */
function Position({ controller: { player, durationMs } }: { controller: Controller }) {
  return <span class="number small editor-time">{positionText(player.timeMs.value, durationMs)}</span>;
}

const Toggle = ({ flag, label }: { flag: Signal<boolean>; label: string }) => (
  <button
    type="button"
    class="toggle"
    aria-pressed={flag.value}
    onClick={() => {
      flag.value = !flag.peek();
    }}
  >
    {flag.value && <Icon name="check" size={12} />}
    {label}
  </button>
);
