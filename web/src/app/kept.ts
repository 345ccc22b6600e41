// Small settings that this browser keeps. A browser may forbid storage, and then nothing is kept. Never secrets.
import { signal } from "@preact/signals";

/** What the page keeps while nobody is signed in, as a sentence for the sign-in page. Set by whoever has unsaved work. */
export const keptWork = signal<string | undefined>(undefined);

export function recall(name: string): string | null {
  try {
    return window.localStorage.getItem(`plosive.${name}`);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string | null): void {
  try {
    if (value === null) window.localStorage.removeItem(`plosive.${name}`);
    else window.localStorage.setItem(`plosive.${name}`, value);
  } catch {
    // Full or forbidden: the setting holds until the page is closed.
  }
}

/** The names of all settings that begin with this text. */
export function recallAll(prefix: string): readonly string[] {
  try {
    return Object.keys(window.localStorage)
      .filter((name) => name.startsWith(`plosive.${prefix}`))
      .map((name) => name.slice("plosive.".length));
  } catch {
    return [];
  }
}

/** Forgets all settings whose names begin with this text. */
export function forget(prefix: string): void {
  try {
    for (const name of Object.keys(window.localStorage))
      if (name.startsWith(`plosive.${prefix}`)) window.localStorage.removeItem(name);
  } catch {
    // Forbidden: there are none.
  }
}
