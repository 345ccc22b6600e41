// What the keys, buttons and pointers of the editor do: selection, visible range, playback, changes of regions. It knows no
// DOM; the views read its signals. Called by the editor page.
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Document } from "./document.ts";
import { changed, created, removed } from "./history.ts";
import type { Action } from "./keymap.ts";
import { type Player, speeds } from "./player.ts";
import { lengthOf, moved, type Range, showing, within, zoomed } from "./range.ts";
import { fitted, neighbor, newKey, type Region } from "./region.ts";
import { acceptedAs, openSuggestions, type Suggestion } from "./suggestions.ts";
import { clockOf, wordsOf } from "./times.ts";

export interface Controller {
  readonly document: Document;
  readonly player: Player;
  readonly durationMs: number;
  /** Names of the dataset's types, and of types that only labels of the file have. */
  readonly types: ReadonlySignal<readonly string[]>;
  readonly range: Signal<Range>;
  /** The key of a region or the id of a suggestion. */
  readonly selected: Signal<string | undefined>;
  readonly region: ReadonlySignal<Region | undefined>;
  readonly suggestion: ReadonlySignal<Suggestion | undefined>;
  readonly suggestions: ReadonlySignal<readonly Suggestion[]>;
  readonly suggested: Signal<readonly Suggestion[]>;
  readonly rejected: Signal<ReadonlySet<string>>;
  readonly leastConfidence: Signal<number>;
  /** The type of new regions. */
  readonly type: Signal<string>;
  /** A region was begun there, and not ended yet. */
  readonly begunAt: Signal<number | undefined>;
  readonly snaps: Signal<boolean>;
  readonly loops: Signal<boolean>;
  /** Whether labels can be changed; if not, `why`. */
  readonly why: string | undefined;
  act(action: Action): void;
  chooseType(index: number): void;
  select(key: string | undefined, options?: { plays?: boolean }): void;
  add(type: string, startMs: number, endMs: number): void;
  change(region: Region, part: Partial<Region>, what: string, mayJoin?: boolean): void;
  /** The steps of a drag, and nudges, are undone together. Nudges do not snap. */
  moveEdge(edge: "start" | "end", ms: number, kind?: "drag" | "nudge"): void;
  remove(region: Region): void;
  accept(suggestion: Suggestion): void;
  reject(suggestion: Suggestion): void;
  snapped(ms: number): number;
}

export interface Needs {
  readonly document: Document;
  readonly player: Player;
  readonly durationMs: number;
  readonly typeNames: readonly string[];
  readonly rejected: ReadonlySet<string>;
  readonly why: string | undefined;
  announce(text: string): void;
  /** The nearest zero crossing, if the samples there are known. */
  crossing(ms: number): number;
  nextFile(): void;
  toggleReviewed(): void;
  help(): void;
  decided(rejected: ReadonlySet<string>): void;
}

export function makeController(needs: Needs): Controller {
  const { document, player, durationMs, announce, why } = needs;
  const { regions } = document.autosave;
  const range = signal<Range>(within({ fromMs: 0, toMs: Math.min(durationMs, 30_000) }, durationMs));
  const selected = signal<string | undefined>(undefined);
  const region = computed(() => regions.value.byKey.get(selected.value ?? ""));
  const types = computed(() => [
    ...new Set([...needs.typeNames, ...regions.value.list.map(({ type }) => type)]),
  ]);
  const suggested = signal<readonly Suggestion[]>([]);
  const rejected = signal(needs.rejected);
  const leastConfidence = signal(0);
  const suggestions = computed(() =>
    openSuggestions(suggested.value, regions.value.list, rejected.value, leastConfidence.value),
  );
  const suggestion = computed(() => suggestions.value.find(({ id }) => id === selected.value));
  const type = signal(needs.typeNames[0] ?? "");
  const begunAt = signal<number | undefined>(undefined);
  const snaps = signal(false);
  const loops = signal(false);

  const said = ({ type: name, startMs, endMs }: Pick<Region, "type" | "startMs" | "endMs">) =>
    wordsOf(name, startMs, endMs);
  const isRefused = () => {
    if (why !== undefined) announce(why);
    return why !== undefined;
  };
  const snapped = (ms: number) => (snaps.peek() ? needs.crossing(ms) : ms);

  function playSelected(): void {
    const item = region.peek() ?? suggestion.peek();
    if (item === undefined) return;
    // A point is heard with what is around it.
    const room = Math.max(0, 100 - (item.endMs - item.startMs)) / 2;
    const part = { fromMs: Math.max(0, item.startMs - room), toMs: Math.min(durationMs, item.endMs + room) };
    player.play(part, { isLoop: loops.peek() });
  }

  function select(key: string | undefined, { plays = false } = {}): void {
    batch(() => {
      selected.value = key;
      begunAt.value = undefined;
      const item = region.peek() ?? suggestion.peek();
      if (item === undefined) return;
      range.value = showing(range.peek(), item.startMs, item.endMs, durationMs);
      if (!player.isPlaying.peek()) player.seek(item.startMs);
    });
    if (plays) playSelected();
  }

  /** Regions and open suggestions in one order. */
  function step(by: 1 | -1) {
    const items = [
      ...regions.peek().list,
      ...suggestions.peek().map((open) => ({ ...open, key: open.id })),
    ].sort((a, b) => a.startMs - b.startMs);
    const next = neighbor(items, selected.peek(), player.timeMs.peek(), by);
    if (next === undefined) return announce(by === 1 ? "No region follows" : "No region comes before");
    select(next.key, { plays: true });
    announce(`${suggestion.peek() === undefined ? "" : "Suggestion: "}${said(next)}`);
  }

  function add(name: string, startMs: number, endMs: number) {
    if (isRefused()) return;
    if (name === "") return announce("The dataset has no artifact types: add one first");
    const fresh = fitted(
      { key: newKey(), type: name, startMs, endMs, confidence: 1, annotator: null, extraData: {} },
      durationMs,
    );
    document.edit(`Add ${name}`, [created(fresh)]);
    batch(() => {
      selected.value = fresh.key;
      begunAt.value = undefined;
    });
    announce(`${said(fresh)}, added`);
  }

  function change(before: Region, part: Partial<Region>, what: string, mayJoin = false): void {
    if (isRefused()) return;
    const after = fitted({ ...before, ...part }, durationMs);
    document.edit(what, [changed(before, after)], { mayJoin });
    announce(said(after));
  }

  function moveEdge(edge: "start" | "end", ms: number, kind?: "drag" | "nudge"): void {
    const present = region.peek();
    if (present === undefined) return;
    // A snap could undo a small step.
    const to = kind === "nudge" ? ms : snapped(ms);
    if (edge === "start")
      change(present, { startMs: Math.min(to, present.endMs) }, "Move the start", kind !== undefined);
    else change(present, { endMs: Math.max(to, present.startMs) }, "Move the end", kind !== undefined);
    // A view that moves below the pointer would move the edge on.
    if (kind !== "drag") range.value = showing(range.peek(), ms, ms, durationMs);
  }

  function remove(present: Region): void {
    if (isRefused()) return;
    document.edit(`Delete ${present.type}`, [removed(present)]);
    selected.value = undefined;
    announce(`${said(present)}, deleted`);
  }

  /** After a decision the next suggestion comes by itself. */
  function goOn(after: Suggestion, what: string): void {
    const next = suggestions.peek().find(({ startMs, id }) => startMs >= after.startMs && id !== after.id);
    select(next?.id, { plays: next !== undefined });
    announce(
      next === undefined ? `${what}; no suggestion follows` : `${what}; next suggestion: ${said(next)}`,
    );
  }

  function accept(item: Suggestion): void {
    if (isRefused()) return;
    document.edit(`Accept ${item.type}`, [created(fitted(acceptedAs(item, newKey()), durationMs))]);
    goOn(item, `${said(item)}, accepted`);
  }

  function reject(item: Suggestion): void {
    rejected.value = new Set([...rejected.peek(), item.id]);
    needs.decided(rejected.peek());
    goOn(item, `${said(item)}, rejected`);
  }

  function setEdge(edge: "start" | "end") {
    if (isRefused()) return;
    const now = player.timeMs.peek();
    if (region.peek() !== undefined) return moveEdge(edge, now);
    const begun = begunAt.peek();
    if (edge === "start" || begun === undefined) {
      if (edge === "end") return announce("Set a start first");
      begunAt.value = snapped(now);
      return announce(`${type.peek()} begins at ${clockOf(now)}`);
    }
    add(type.peek(), begun, snapped(now));
  }

  const zoom = (factor: number) => {
    const { fromMs, toMs } = range.peek();
    const now = player.timeMs.peek();
    const around = now >= fromMs && now <= toMs ? now : (fromMs + toMs) / 2;
    range.value = zoomed(range.peek(), factor, around, durationMs);
  };

  const seek = (ms: number) => {
    player.seek(ms);
    const now = player.timeMs.peek();
    range.value = showing(range.peek(), now, now, durationMs);
  };

  function changeSpeed(by: 1 | -1): void {
    const at = speeds.findIndex((speed) => speed >= player.speed.peek());
    const next = speeds[Math.min(speeds.length - 1, Math.max(0, at + by))] ?? 1;
    player.speed.value = next;
    announce(`Speed ${next}`);
  }

  function travel(move: "undo" | "redo") {
    if (isRefused()) return;
    const step = document[move]();
    if (step === undefined) return announce(move === "undo" ? "Nothing to undo" : "Nothing to do again");
    const [edit] = step.edits;
    const key = (move === "undo" ? edit?.before : edit?.after)?.key;
    select(key);
    const left = step.isPartial ? ". What somebody else has changed since stays as it is" : "";
    announce(`${move === "undo" ? "Undone" : "Done again"}: ${step.what}${left}`);
  }

  const toggle = (flag: Signal<boolean>, what: string) => {
    flag.value = !flag.peek();
    announce(`${what} ${flag.peek() ? "on" : "off"}`);
  };

  const commands: Record<Action, () => void> = {
    play() {
      if (player.isPlaying.peek()) player.pause();
      else if (loops.peek() && region.peek() !== undefined) playSelected();
      else player.play();
    },
    back: () => seek(player.timeMs.peek() - 10),
    forward: () => seek(player.timeMs.peek() + 10),
    start: () => setEdge("start"),
    end: () => setEdge("end"),
    accept() {
      const item = suggestion.peek();
      if (item !== undefined) accept(item);
      else if (suggestions.peek().length > 0 && region.peek() === undefined)
        select(suggestions.peek()[0]?.id, { plays: true });
    },
    delete() {
      const [present, item] = [region.peek(), suggestion.peek()];
      if (present !== undefined) remove(present);
      else if (item !== undefined) reject(item);
    },
    previous: () => step(-1),
    next: () => step(1),
    loop() {
      toggle(loops, "Loop");
      if (loops.peek() && region.peek() !== undefined) playSelected();
      else if (!loops.peek()) player.pause();
    },
    zoomIn: () => zoom(2),
    zoomOut: () => zoom(0.5),
    zoomRegion() {
      const item = region.peek() ?? suggestion.peek();
      if (item === undefined) range.value = within({ fromMs: 0, toMs: durationMs }, durationMs);
      else {
        const room = Math.max(50, item.endMs - item.startMs);
        range.value = within({ fromMs: item.startMs - room, toMs: item.endMs + room }, durationMs);
      }
    },
    undo: () => travel("undo"),
    redo: () => travel("redo"),
    slower: () => changeSpeed(-1),
    faster: () => changeSpeed(1),
    nextFile: needs.nextFile,
    reviewed() {
      if (!isRefused()) needs.toggleReviewed();
    },
    snap: () => toggle(snaps, "Snap to zero crossings"),
    deselect() {
      batch(() => {
        selected.value = undefined;
        begunAt.value = undefined;
      });
    },
    help: needs.help,
    left: () => seek(player.timeMs.peek() - lengthOf(range.peek()) / 10),
    right: () => seek(player.timeMs.peek() + lengthOf(range.peek()) / 10),
    home: () => seek(0),
    finish: () => seek(durationMs),
  };

  return {
    document,
    player,
    durationMs,
    types,
    range,
    selected,
    region,
    suggestion,
    suggestions,
    suggested,
    rejected,
    leastConfidence,
    type,
    begunAt,
    snaps,
    loops,
    why,
    act: (action) => commands[action](),
    chooseType(index) {
      const name = types.peek()[index];
      if (name === undefined) return announce(`There is no type ${index + 1}`);
      type.value = name;
      const present = region.peek();
      if (present !== undefined && present.type !== name && why === undefined)
        change(present, { type: name }, `Change the type to ${name}`);
      else announce(`Type ${name}`);
    },
    select,
    add,
    change,
    moveEdge,
    remove,
    accept,
    reject,
    snapped,
  };
}

export const scrolled = (controller: Controller, byMs: number): void => {
  controller.range.value = moved(controller.range.peek(), byMs, controller.durationMs);
};
