// The keys of the editor. Each action has keys, which the user may change; this browser keeps the changes. Pure but for
// kept.ts.
import { keep, recall } from "../app/kept.ts";

const defaults = {
  play: ["Play or pause", "Space"],
  back: ["Back 10 ms", ","],
  forward: ["Forward 10 ms", "."],
  start: ["Set the start at the playhead", "["],
  end: ["Set the end at the playhead", "]"],
  accept: ["Accept the suggestion", "Enter"],
  delete: ["Delete the region, or reject the suggestion", "Delete"],
  previous: ["Previous region, played", "J"],
  next: ["Next region, played", "L"],
  loop: ["Loop the region", "R"],
  zoomIn: ["Zoom in", "+"],
  zoomOut: ["Zoom out", "-"],
  zoomRegion: ["Zoom to the region, or to all", "F"],
  undo: ["Undo", "Z"],
  redo: ["Do again", "Shift+Z"],
  slower: ["Slower", "<"],
  faster: ["Faster", ">"],
  nextFile: ["Next unreviewed file", "N"],
  reviewed: ["Mark the file as reviewed", "M"],
  snap: ["Snap to zero crossings", "S"],
  deselect: ["Select nothing", "Escape"],
  help: ["Show the keys", "?"],
  left: ["Back by a tenth of what is visible", "ArrowLeft"],
  right: ["Forward by a tenth of what is visible", "ArrowRight"],
  home: ["To the beginning", "Home"],
  finish: ["To the end", "End"],
} as const;

export type Action = keyof typeof defaults;
export const actions = Object.keys(defaults) as Action[];
export const wordsOfAction = (action: Action): string => defaults[action][0];

export type Keymap = Readonly<Record<Action, string>>;

export const defaultKeymap = Object.fromEntries(actions.map((name) => [name, defaults[name][1]])) as Keymap;

interface Pressed {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/**
 * The name of a key press: "A", "Shift+Z", "Space", "<". Undefined: it belongs to the browser, or is no key of its own.
 * Layouts put characters such as "<" on different keys, with and without Shift, so only letters tell Shift apart.
 */
export function keyOf({ key, shiftKey, ctrlKey, metaKey, altKey }: Pressed): string | undefined {
  // Layouts that have brackets behind AltGr or Option report Alt, some with Ctrl.
  const isSymbol = key.length === 1 && !/[\p{L}\p{N} ]/u.test(key);
  if (metaKey || (ctrlKey && !altKey) || (altKey && !isSymbol)) return undefined;
  if (["Shift", "Control", "Alt", "Meta", "Tab", "Dead", "Process", "Unidentified"].includes(key))
    return undefined;
  if (key === " ") return "Space";
  if (key === "Backspace") return "Delete";
  if (/^\p{L}$/u.test(key)) return (shiftKey ? "Shift+" : "") + key.toUpperCase();
  if (key.length > 1 && shiftKey) return `Shift+${key}`;
  // The same key without Shift, as on many keyboards.
  return key === "=" ? "+" : key;
}

export type Pressing = { readonly action: Action } | { readonly type: number } | undefined;

/** What a key does: an action, or the choice of a type by its number, from 0. */
export function meaningOf(keymap: Keymap, key: string): Pressing {
  const action = actions.find((name) => keymap[name] === key);
  if (action !== undefined) return { action };
  return /^[1-9]$/.test(key) ? { type: Number(key) - 1 } : undefined;
}

/** Why an action cannot have this key; undefined: it can. */
export function faultOfKey(keymap: Keymap, action: Action, key: string): string | undefined {
  if (/^\d$/.test(key)) return "Digits choose artifact types";
  const other = actions.find((name) => name !== action && keymap[name] === key);
  return other === undefined ? undefined : `“${wordsOfAction(other)}” has this key`;
}

const name = "editor.keys";

/** What was kept may be from another version: unknown actions and keys that two actions have are dropped. */
export function parseKeymap(text: string | null): Keymap {
  let keymap = defaultKeymap;
  let given: unknown;
  try {
    given = JSON.parse(text ?? "{}");
  } catch {
    return keymap;
  }
  if (typeof given !== "object" || given === null) return keymap;
  const wanted = actions.flatMap((action) => {
    const key = (given as Record<string, unknown>)[action];
    return typeof key === "string" && key.length > 0 && key.length <= 24 ? [[action, key] as const] : [];
  });
  // All at once first: two actions may have exchanged their keys.
  const all = { ...keymap, ...Object.fromEntries(wanted) };
  const isFine = wanted.every(([action, key]) => faultOfKey(all, action, key) === undefined);
  if (isFine) return all;
  for (const [action, key] of wanted)
    if (faultOfKey(keymap, action, key) === undefined) keymap = { ...keymap, [action]: key };
  return keymap;
}

export const loadKeymap = (): Keymap => parseKeymap(recall(name));

export function saveKeymap(keymap: Keymap): void {
  const changed = actions.filter((action) => keymap[action] !== defaultKeymap[action]);
  keep(
    name,
    changed.length === 0 ? null : JSON.stringify(Object.fromEntries(changed.map((a) => [a, keymap[a]]))),
  );
}

const symbols: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Delete: "Del",
};

/** The parts of a key as keyboards show them. */
export const shownKey = (key: string): readonly string[] =>
  (key === "+" ? ["+"] : key.split(/\+(?=.)/)).map((part) => symbols[part] ?? part);
