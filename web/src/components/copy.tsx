// Text that one click copies: ids, keys, commands.
import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { notify } from "./toast.tsx";

/** Copies, also on pages that came over plain http, where browsers have no clipboard for scripts. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    const host = document.querySelector("dialog[open]") ?? document.body;
    const focused = document.activeElement;
    host.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isDone;
  }
}

function useCopied(text: string, what: string): [boolean, () => Promise<void>] {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_800);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const run = async () => {
    if (await copy(text)) {
      setCopied(true);
      notify(`Copied the ${what}`, { isQuiet: true });
    } else notify(`The browser refused to copy the ${what}: select and copy it by hand`, { tone: "bad" });
  };
  return [isCopied, run];
}

/** An id in a small monospaced font; `shown` may be shorter than what is copied. */
export function CopyText({ text, shown = text, what }: { text: string; shown?: string; what: string }) {
  const [isCopied, run] = useCopied(text, what);
  return (
    <button
      type="button"
      class="copy-text"
      onClick={run}
      title={`Copy the ${what}`}
      aria-label={`Copy the ${what} ${shown}`}
    >
      <span class="mono">{shown}</span>
      <Icon name={isCopied ? "check" : "copy"} size={13} />
    </button>
  );
}

export const CopyId = ({ id, what = "id" }: { id: string; what?: string }) => (
  <CopyText text={id} shown={`${id.slice(0, 8)}…${id.slice(-4)}`} what={what} />
);

export function CopyButton({ text, what, label = "Copy" }: { text: string; what: string; label?: string }) {
  const [isCopied, run] = useCopied(text, what);
  return (
    <Button isSmall icon={isCopied ? "check" : "copy"} onClick={run}>
      {isCopied ? "Copied" : label}
    </Button>
  );
}
