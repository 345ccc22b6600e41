// Badges for states. Each tone has a mark of its own shape beside its words, so colour is never the only sign.
import type { ComponentChildren } from "preact";

export type Tone = "good" | "busy" | "warn" | "bad" | "quiet" | "accent";

const marks: Record<Tone, string> = {
  good: "M2 5.2 4.2 7.4 8 3",
  busy: "M5 2a3 3 0 1 1-3 3",
  warn: "M5 1.8 8.6 8H1.4z",
  bad: "M2.5 2.5l5 5M7.5 2.5l-5 5",
  quiet: "M2.5 5h5",
  accent: "M5 2.5v5M2.5 5h5",
};

export function Badge({
  tone,
  children,
  title,
}: {
  tone: Tone;
  children: ComponentChildren;
  title?: string;
}) {
  return (
    <span class={`badge ${tone}`} title={title}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
        <path d={marks[tone]} />
      </svg>
      {children}
    </span>
  );
}

/** The name of an artifact type, or another word of the user. */
export const Tag = ({ children }: { children: ComponentChildren }) => <span class="tag">{children}</span>;
