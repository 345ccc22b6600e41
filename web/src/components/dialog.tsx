// Modal dialogs by <dialog>, which keeps the focus inside, closes on Escape and gives the focus back.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { reasonOf } from "../app/api.ts";
import { type Navigate, navigateFromHere } from "../app/router.ts";
import { session } from "../app/session.ts";
import { Button, IconButton } from "./button.tsx";
import { giveFocusBack } from "./focus.ts";
import { Problem } from "./states.tsx";
import { notify } from "./toast.tsx";

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly isWide?: boolean;
  /** Escape and the cross do nothing, because closing would lose something. */
  readonly isHeld?: boolean;
}

export function Dialog({ title, onClose, children, footer, isWide, isHeld }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const opener = useRef<Element>(null);
  const inside = useRef<Element>(null);
  const id = useId();
  const isSignedIn = session.value !== undefined;
  // It closes while it is still in the document: otherwise it could not give the focus back.
  useLayoutEffect(() => {
    const dialog = ref.current;
    // A modal dialog would block the sign-in page. It keeps its fields, and opens again afterwards.
    if (dialog === null || !isSignedIn) return;
    opener.current ??= document.activeElement;
    dialog.showModal();
    // The first thing to do: a field, or the button that changes nothing.
    dialog
      .querySelector<HTMLElement>(".dialog-body :is(input, select, textarea), .dialog-foot button")
      ?.focus();
    return () => {
      dialog.close();
      giveFocusBack(opener.current, dialog);
    };
  }, [isSignedIn]);
  return (
    <dialog
      ref={ref}
      class={isWide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        inside.current = document.activeElement;
        if (!isHeld) onClose();
      }}
      onClose={() => {
        const dialog = ref.current;
        // Chromium closes a dialog in spite of preventDefault() when nothing but Escape was pressed since the last time.
        if (dialog === null || dialog.open || session.peek() === undefined) return;
        if (!isHeld) return onClose();
        dialog.showModal();
        if (inside.current instanceof HTMLElement) inside.current.focus();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        {!isHeld && <IconButton icon="close" label="Close" onClick={onClose} />}
      </div>
      <div class="dialog-body">{children}</div>
      {footer && <div class="dialog-foot">{footer}</div>}
    </dialog>
  );
}

/**
 * A dialog with a form. `submit` may throw; the dialog then says why and stays. It may end with `go`, which does nothing once the
 * user has gone to another page.
 */
export function FormDialog({
  title,
  action,
  submit,
  onClose,
  children,
  attempted,
  isDanger,
  isReady = true,
  isWide,
}: {
  title: string;
  action: string;
  submit: (go: Navigate) => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
  /** What a failure of `submit` is a failure of: "Creating the dataset". */
  attempted: string;
  isDanger?: boolean;
  isReady?: boolean;
  isWide?: boolean;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const isClosed = useRef(false);
  useEffect(
    () => () => {
      isClosed.current = true;
    },
    [],
  );
  const id = useId();
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    if (isBusy || !isReady) return;
    setBusy(true);
    setError(undefined);
    try {
      await submit(navigateFromHere());
    } catch (thrown) {
      setError(thrown);
      // Nobody would read it in the form.
      if (isClosed.current) notify(`${attempted} failed: ${reasonOf(thrown)}`, { tone: "bad" });
    }
    setBusy(false);
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isWide={isWide}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={id}
            kind={isDanger ? "danger" : "primary"}
            isBusy={isBusy}
            disabled={!isReady}
          >
            {action}
          </Button>
        </>
      }
    >
      <form id={id} class="stack" onSubmit={onSubmit}>
        {children}
        {error !== undefined && <Problem attempted={attempted} error={error} />}
      </form>
    </Dialog>
  );
}
