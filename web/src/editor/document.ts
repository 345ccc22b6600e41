// The labels of one file while it is edited: regions with undo, saved by themselves, and kept in this browser until they
// are. A document lives until all of it is saved, also when its page is left. Called by the editor page.
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { plural } from "../app/format.ts";
import { keptWork } from "../app/kept.ts";
import { state as sessionState } from "../app/session.ts";
import { uniqueName } from "../app/unique.ts";
import { type Autosave, makeAutosave } from "./autosave.ts";
import { applied, type Edit, type History, noHistory, record, redo, type Step, undo } from "./history.ts";
import {
  dropKept,
  filesWithKept,
  type Kept,
  keptOf,
  loadKept,
  placeOfKept,
  restored,
  saveKept,
} from "./keeping.ts";
import { newKey } from "./region.ts";
import { type Place, readLabels, stepsOf } from "./steps.ts";

export interface Document {
  readonly autosave: Autosave;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;
  /** How many labels others have changed since somebody was told. */
  readonly othersChanged: Signal<number>;
  /** How many changes of an earlier visit were restored. */
  readonly restored: number;
  edit(what: string, edits: readonly Edit[], options?: { mayJoin?: boolean }): void;
  /** `isPartial`: regions that somebody else has changed since were left as they are. */
  undo(): (Step & { readonly isPartial: boolean }) | undefined;
  redo(): (Step & { readonly isPartial: boolean }) | undefined;
}

interface Open {
  readonly document: Document;
  users: number;
  readonly close: () => void;
}

const open = new Map<string, Open>();

const opening = new Map<string, Promise<Open>>();

/** The document of a file, read from the service unless it is open already. `release` it when its page is left. */
export async function openDocument(tenantId: string, place: Place): Promise<Document> {
  const name = placeOfKept(tenantId, place.setId, place.fileId);
  let opened = open.get(name);
  if (opened === undefined) {
    const pending = opening.get(name) ?? start(tenantId, name, place);
    opening.set(name, pending);
    opened = await pending.finally(() => opening.delete(name));
  }
  opened.users++;
  return opened.document;
}

async function start(tenantId: string, name: string, place: Place): Promise<Open> {
  const { theirs, etag } = await readLabels(place);
  const entry = `${name}.${uniqueName()}`;
  const unlock = hold(entry);
  const former = await abandoned(filesWithKept(tenantId, place.setId).get(place.fileId) ?? []);
  const kept = former.reduce((all, one) => joined(all, loadKept(one)), nothing);
  const { document, dispose } = makeDocument(
    place,
    { ...restored(kept, theirs), etag },
    kept.changes.length,
    () => saveKept(entry, snapshotOf(document)),
  );
  saveKept(entry, snapshotOf(document));
  for (const one of former) dropKept(one);
  const close = () => {
    dispose();
    end();
    open.delete(name);
    unlock();
  };
  const opened: Open = { document, users: 0, close };
  open.set(name, opened);
  const end = effect(() => {
    tellKept();
    // Later, because an effect cannot end itself while it runs, and the page may be opened again.
    if (document.autosave.unsaved.value === 0) setTimeout(() => closeUnused(opened));
  });
  return opened;
}

/** The sign-in page says what is not lost. */
function tellKept(): void {
  const count = [...open.values()].reduce((sum, { document }) => sum + document.autosave.unsaved.value, 0);
  keptWork.value =
    count === 0
      ? undefined
      : `${plural(count, "change")} of labels ${count === 1 ? "is" : "are"} kept here, and saved when you have signed in.`;
}

function closeUnused(opened: Open): void {
  const { document, users, close } = opened;
  if (users === 0 && document.autosave.unsaved.peek() === 0 && [...open.values()].includes(opened)) close();
}

/** The page is left. What is not saved yet goes on being saved. */
export function release(document: Document): void {
  const opened = [...open.values()].find((other) => other.document === document);
  if (opened === undefined) return;
  opened.users--;
  document.autosave.flush();
  closeUnused(opened);
}

const snapshotOf = ({ autosave }: Document) => {
  const { base, regions, sent } = autosave.snapshot();
  return keptOf(base, regions, sent);
};

const nothing: Kept = { changes: [], sent: [] };

/** What several tabs have kept that ended before they saved. If two have changed one label, both versions stay. */
function joined(first: Kept, second: Kept = nothing): Kept {
  const known = new Set(first.changes.map(({ key }) => key));
  const others = second.changes.flatMap((change) => {
    if (!known.has(change.key)) return [change];
    const key = newKey();
    return change.after === undefined ? [] : [{ key, after: { ...change.after, key } }];
  });
  return { changes: [...first.changes, ...others], sent: [...first.sent, ...second.sent] };
}

/** Holds a lock as long as the page lives, so that other tabs know that the entry is in use. */
function hold(name: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Locks exist only on pages that came over https or from this machine.
  void navigator.locks?.request(`plosive.${name}`, () => promise).catch(() => {});
  return resolve;
}

/** Of these entries those that no open tab uses. */
async function abandoned(names: readonly string[]): Promise<readonly string[]> {
  if (navigator.locks === undefined) return names;
  const { held = [] } = await navigator.locks.query();
  const used = new Set(held.map(({ name }) => name));
  return names.filter((name) => !used.has(`plosive.${name}`));
}

function makeDocument(
  place: Place,
  start: Parameters<typeof makeAutosave>[0],
  restoredChanges: number,
  keepAll: () => void,
): { document: Document; dispose: () => void } {
  const history: Signal<History> = signal(noHistory);
  const othersChanged = signal(0);
  let isKeeping = false;
  const autosave = makeAutosave(start, stepsOf(place), {
    changed() {
      if (isKeeping) return;
      isKeeping = true;
      // Several changes of one moment are written once, and before the browser does anything else.
      queueMicrotask(() => {
        isKeeping = false;
        keepAll();
      });
    },
    others(count) {
      othersChanged.value += count;
    },
  });
  const put = (edits: readonly Edit[]) => {
    const { regions, isPartial } = applied(autosave.regions.peek().byKey, edits);
    autosave.set(regions);
    return isPartial;
  };
  // Saving stops when the session ends or the network fails, and goes on when it is back.
  const endEffect = effect(() => {
    if (sessionState.value.is === "signed-in" && autosave.state.peek().is === "paused") autosave.flush();
  });
  window.addEventListener("online", autosave.flush);
  const document: Document = {
    autosave,
    canUndo: computed(() => history.value.done.length > 0),
    canRedo: computed(() => history.value.undone.length > 0),
    othersChanged,
    restored: restoredChanges,
    edit(what, edits, { mayJoin = false } = {}) {
      const real = edits.filter(({ before, after }) => before !== after);
      if (real.length === 0) return;
      batch(() => {
        history.value = record(history.peek(), { what, edits: real, at: Date.now() }, mayJoin);
        put(real);
      });
    },
    undo: () => travel(undo),
    redo: () => travel(redo),
  };
  return {
    document,
    dispose() {
      endEffect();
      window.removeEventListener("online", autosave.flush);
      autosave.stop();
    },
  };

  function travel(move: typeof undo) {
    const moved = move(history.peek());
    if (moved === undefined) return undefined;
    return batch(() => {
      history.value = moved.history;
      return { ...moved.step, isPartial: put(moved.edits) };
    });
  }
}

window.addEventListener("beforeunload", (event) => {
  for (const { document } of open.values()) {
    if (document.autosave.unsaved.peek() === 0) continue;
    document.autosave.flush();
    event.preventDefault();
  }
});
