// The list of keys, made of the shortcuts that the present page has. Single keys can be switched off here.
import { areOn, shortcuts, switchShortcuts } from "../app/shortcuts.ts";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox } from "../components/field.tsx";

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

const always = [
  ["Tab", "Next control"],
  ["↑ ↓", "Row above or below, in tables"],
  ["Esc", "Close what is open"],
] as const;

const shownKeys = (keys: string) =>
  keys.startsWith("mod+")
    ? [isMac ? "⌘" : "Ctrl", keys.slice(4).toUpperCase()]
    : keys.split(" ").map((key) => key.toUpperCase());

export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  const known = new Map(shortcuts.value.map(({ keys, what }) => [keys, what]));
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <div class="stack">
        <dl class="keys">
          {[...known].map(([keys, what]) => (
            <Row key={keys} what={what} keys={shownKeys(keys)} />
          ))}
          {always.map(([keys, what]) => (
            <Row key={keys} what={what} keys={keys.split(" ")} />
          ))}
        </dl>
        <Checkbox
          label="Single-key shortcuts"
          hint="Off: only keys with Ctrl or ⌘ work. Switch them off if you dictate, or if you press keys by accident."
          isChecked={areOn.value}
          onValue={switchShortcuts}
        />
      </div>
    </Dialog>
  );
}

const Row = ({ what, keys }: { what: string; keys: readonly string[] }) => (
  <div>
    <dt>{what}</dt>
    <dd>
      {keys.map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </dd>
  </div>
);
