// Short messages about what has happened. Good news leaves by itself; bad news stays until it is dismissed.
import { signal } from "@preact/signals";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "good" | "bad";
}

const toasts = signal<readonly Toast[]>([]);
/** What is read aloud and not shown, because the page shows it already. */
const whisper = signal("");
let nextId = 1;

export function notify(
  text: string,
  { tone = "good", isQuiet = false }: { tone?: "good" | "bad"; isQuiet?: boolean } = {},
): void {
  if (isQuiet) {
    whisper.value = "";
    requestAnimationFrame(() => {
      whisper.value = text;
    });
    return;
  }
  const toast = { id: nextId++, text, tone };
  toasts.value = [...toasts.peek().slice(-3), toast];
  if (tone === "good") setTimeout(() => dismiss(toast.id), 6_000);
}

const dismiss = (id: number) => {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
};

export function Toasts() {
  const shown = toasts.value;
  const of = (tone: Toast["tone"]) => shown.filter((toast) => toast.tone === tone);
  return (
    <>
      <div class="toasts">
        <div role="status">{of("good").map(view)}</div>
        <div role="alert">{of("bad").map(view)}</div>
      </div>
      <p class="visually-hidden" role="status">
        {whisper}
      </p>
    </>
  );
}

/** A name in quotation marks is isolated, so that its direction of writing does not turn around the text after it. */
function Isolated({ text }: { text: string }) {
  const [before, name, after] = text.split(/(?<=“)(.*)(?=”)/s);
  return (
    <span class="break">
      {before}
      {name !== undefined && <bdi>{name}</bdi>}
      {after}
    </span>
  );
}

const view = ({ id, text, tone }: Toast) => (
  <div class={`toast ${tone}`} key={id}>
    <Icon name={tone === "good" ? "check" : "error"} />
    <Isolated text={text} />
    <IconButton icon="close" label="Dismiss" isSmall onClick={() => dismiss(id)} />
  </div>
);
