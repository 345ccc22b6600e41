// The keys of the editor: what they do, and other ones for them. They work only while the editor has the focus.
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import {
  type Action,
  actions,
  defaultKeymap,
  faultOfKey,
  type Keymap,
  keyOf,
  shownKey,
  wordsOfAction,
} from "../../editor/keymap.ts";

export function Keys({
  keymap,
  onKeymap,
  onClose,
}: {
  keymap: Keymap;
  onKeymap: (keymap: Keymap) => void;
  onClose: () => void;
}) {
  const [changing, setChanging] = useState<Action>();
  const [fault, setFault] = useState<string>();
  const onKeyDown = (event: KeyboardEvent) => {
    if (changing === undefined || event.key === "Tab") return;
    const key = keyOf(event);
    if (key === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const found = faultOfKey(keymap, changing, key);
    setFault(found && `${shownKey(key).join(" ")}: ${found}.`);
    if (found !== undefined) return;
    onKeymap({ ...keymap, [changing]: key });
    setChanging(undefined);
  };
  return (
    <Dialog
      title="Keys of the editor"
      onClose={onClose}
      isHeld={changing !== undefined}
      footer={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <p class="muted small">
        They work while the focus is in the editor. Choose a key to change it; this browser keeps it. The
        digits 1 to 9 choose the type of new regions, or change that of the selected one.
      </p>
      {fault !== undefined && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <dl class="keys" onKeyDown={onKeyDown}>
        {actions.map((action) => (
          <div key={action}>
            <dt>{wordsOfAction(action)}</dt>
            <dd>
              <button
                type="button"
                class="key-button"
                aria-label={`${wordsOfAction(action)}: ${keymap[action]}. Change the key`}
                aria-pressed={changing === action}
                onClick={() => {
                  setFault(undefined);
                  setChanging(changing === action ? undefined : action);
                }}
              >
                {changing === action ? (
                  <span class="small">Press a key</span>
                ) : (
                  shownKey(keymap[action]).map((part) => <kbd key={part}>{part}</kbd>)
                )}
              </button>
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <Button
          isSmall
          onClick={() => {
            setChanging(undefined);
            onKeymap(defaultKeymap);
          }}
        >
          Restore the defaults
        </Button>
      </p>
    </Dialog>
  );
}
