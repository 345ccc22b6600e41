// Form fields: a label, the control, a hint, and the fault that was found, tied together for assistive technology.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useShortcut } from "../app/shortcuts.ts";
import { Icon } from "./icon.tsx";

interface About {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly fault?: string | undefined;
  readonly isOptional?: boolean;
  readonly isLabelHidden?: boolean;
}

interface Ids {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
}

function Field({ about, children }: { about: About; children: (ids: Ids) => ComponentChildren }) {
  const id = useId();
  const { label, hint, fault, isOptional, isLabelHidden } = about;
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "visually-hidden" : undefined}>
        {label}
        {isOptional && <span class="faint"> (optional)</span>}
      </label>
      {children({
        id,
        "aria-describedby": described || undefined,
        "aria-invalid": fault ? "true" : undefined,
      })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {fault && (
        <p class="fault" id={`${id}-fault`}>
          <Icon name="error" size={14} />
          <span>{fault}</span>
        </p>
      )}
    </div>
  );
}

const split = <T extends About>({ label, hint, fault, isOptional, isLabelHidden, ...rest }: T) => ({
  about: { label, hint, fault, isOptional, isLabelHidden } as About,
  rest,
});

interface Control extends About {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly required?: boolean;
}

interface TextControl extends Control {
  readonly type?: "text" | "password" | "url" | "date";
  readonly name?: string;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly rows?: number;
  readonly inputMode?: "decimal" | "numeric";
  readonly readOnly?: boolean;
  readonly autocomplete?: "off" | "current-password";
  readonly spellcheck?: boolean;
}

export function TextField({ onValue, type = "text", rows: _, ...props }: TextControl) {
  const { about, rest } = split(props);
  return (
    <Field about={about}>
      {(ids) => (
        <input
          type={type as "text"}
          autocomplete="off"
          {...rest}
          {...ids}
          class="input"
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function TextArea({ onValue, type: _, rows = 3, ...props }: TextControl) {
  const { about, rest } = split(props);
  return (
    <Field about={about}>
      {(ids) => (
        <textarea
          rows={rows}
          {...rest}
          {...ids}
          class="input"
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function Select({ onValue, children, ...props }: Control & { readonly children: ComponentChildren }) {
  const { about, rest } = split(props);
  return (
    <Field about={about}>
      {(ids) => (
        <span class="select">
          <select {...rest} {...ids} class="input" onChange={(event) => onValue(event.currentTarget.value)}>
            {children}
          </select>
          <Icon name="down" size={14} />
        </span>
      )}
    </Field>
  );
}

export function Checkbox({
  label,
  hint,
  isChecked,
  onValue,
}: {
  label: ComponentChildren;
  hint?: ComponentChildren;
  isChecked: boolean;
  onValue: (isChecked: boolean) => void;
}) {
  const id = useId();
  return (
    <div class="checkbox">
      <input
        type="checkbox"
        id={id}
        checked={isChecked}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A search field that reports after a pause, and at once on Enter. "/" moves the focus to it. */
export function SearchField({
  label,
  value,
  onValue,
}: {
  label: string;
  value: string;
  onValue: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useShortcut("/", "Search this page", () => input.current?.focus());
  /** What this field has reported last: it comes back as its value when somebody has typed more already. */
  const reported = useRef(value);
  // Before a timer of what was typed until then can end.
  useLayoutEffect(() => {
    if (value !== reported.current) {
      clearTimeout(timer.current);
      setText(value);
    }
    reported.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const report = (next: string, afterMs: number) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      reported.current = next;
      onValue(next);
    }, afterMs);
  };
  return (
    <div class="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        class="input"
        placeholder={label}
        aria-label={label}
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => report(event.currentTarget.value, 200)}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            // It searches; a form around it is not sent.
            event.preventDefault();
            report(text, 0);
          }
          if (event.key === "Escape" && text !== "") report("", 0);
        }}
      />
      <kbd>/</kbd>
    </div>
  );
}
