// Uploads from the browser: the queue of each dataset with its network. Queues live as long as the page, so uploads go on
// while other pages of the dashboard are open. Loaded with the upload page.
import { effect, type Signal, signal } from "@preact/signals";
import { plural } from "../app/format.ts";
import { session, state } from "../app/session.ts";
import { notify } from "../components/toast.tsx";
import { isActive, makeQueue, nameOf, type Queue, type Source } from "./queue.ts";
import {
  type Interrupted,
  isOpen,
  keptAnnouncement,
  loadInterrupted,
  matched,
  saveInterrupted,
} from "./resume.ts";
import { datasetRoutes } from "./routes.ts";
import { stepsFor } from "./steps.ts";
import { uploadSummary } from "./summary.ts";

export interface DatasetUploads {
  readonly queue: Queue;
  /** Uploads of an earlier visit that was left before all had arrived. */
  readonly interrupted: Signal<readonly Interrupted[]>;
  add(sources: readonly Source[]): void;
  /** Forgets the interrupted uploads; the service deletes what it has of them. */
  forgetInterrupted(): Promise<void>;
}

const known = new Map<string, DatasetUploads>();

export function uploadsTo(datasetId: string): DatasetUploads {
  const found = known.get(datasetId) ?? makeUploads(datasetId);
  known.set(datasetId, found);
  return found;
}

function makeUploads(datasetId: string): DatasetUploads {
  const tenantId = session.peek()?.tenant_id ?? "";
  const interrupted = signal<readonly Interrupted[]>([]);
  let isSaving = false;
  // One tab at a time keeps the list: another one has to take running uploads neither for interrupted ones nor out of the list.
  let isKeeper = false;
  const keepList = () => {
    isKeeper = true;
    const running = new Set(queue.items.peek().map(({ source }) => nameOf(source)));
    interrupted.value = loadInterrupted(tenantId, datasetId).filter((entry) => !running.has(nameOf(entry)));
    save();
    return new Promise<never>(() => {});
  };
  const save = () => {
    isSaving = false;
    if (!isKeeper) return;
    const isAnyOpen = saveInterrupted(tenantId, datasetId, queue.items.peek(), interrupted.peek());
    if (!isAnyOpen) interrupted.value = [];
  };
  const steps = stepsFor(datasetRoutes(datasetId), keptAnnouncement(tenantId, datasetId));
  const queue = makeQueue(steps, () => {
    if (!isSaving) setTimeout(save, 300);
    isSaving = true;
    summarize();
  });
  window.addEventListener("pagehide", save);
  // Locks exist only on pages that came over https or from this machine.
  if (navigator.locks === undefined) void keepList();
  else void navigator.locks.request(`plosive.uploads.${tenantId}.${datasetId}`, keepList).catch(() => {});
  // The queue stops when the session ends, and goes on when somebody signs in again.
  effect(() => {
    if (state.value.is === "signed-in" && queue.stopped.peek() !== undefined) queue.resume();
  });
  window.addEventListener("online", () => queue.resume());
  return {
    queue,
    interrupted,
    add(sources) {
      const { sources: fresh, left } = matched(sources, interrupted.peek());
      interrupted.value = left;
      const arrived = sources.length - fresh.length;
      if (arrived > 0) notify(`${plural(arrived, "file has", "files have")} arrived already`);
      queue.add(fresh);
    },
    async forgetInterrupted() {
      const gone = interrupted.peek();
      interrupted.value = [];
      save();
      await steps.discardUnsent(gone.filter(isOpen).flatMap(({ id }) => id ?? []));
      if (!queue.items.peek().some(({ phase }) => isActive(phase.peek())))
        await steps.discardAnnounced().catch(() => {});
    },
  };
}

function summarize(): void {
  let [active, failed] = [0, 0];
  let latest: string | undefined;
  for (const [datasetId, { queue }] of known)
    for (const { phase } of queue.items.peek()) {
      if (isActive(phase.peek())) active++;
      else if (phase.peek() === "failed") failed++;
      else continue;
      latest = datasetId;
    }
  const now = uploadSummary.peek();
  if (now.active !== active || now.failed !== failed || now.datasetId !== latest)
    uploadSummary.value = { datasetId: latest, active, failed };
}

window.addEventListener("beforeunload", (event) => {
  if (uploadSummary.peek().active > 0) event.preventDefault();
});
