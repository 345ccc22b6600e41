// A secret that is shown once: an API key, a signing secret.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy.tsx";
import { useFocusBack } from "./focus.ts";
import { Icon } from "./icon.tsx";

export function Secret({
  title,
  text,
  what,
  children,
  onDone,
}: {
  title: string;
  text: string;
  /** "API key" */
  what: string;
  /** What happens if it is lost. */
  children: ComponentChildren;
  onDone: () => void;
}) {
  const ref = useRef<HTMLElement>(null);
  useFocusBack(ref);
  useLayoutEffect(() => ref.current?.focus(), [text]);
  return (
    <section class="secret" ref={ref} tabIndex={-1} aria-labelledby="secret-title">
      <Icon name="key" />
      <div class="stack-tight">
        <h2 id="secret-title" class="break">
          {title}
        </h2>
        <p class="small muted">{children}</p>
        <div class="secret-line">
          <code class="break" data-secret>
            {text}
          </code>
          <CopyButton text={text} what={what} />
          <Button isSmall kind="primary" onClick={onDone}>
            I have copied it
          </Button>
        </div>
      </div>
    </section>
  );
}
