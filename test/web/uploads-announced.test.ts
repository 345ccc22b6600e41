// Files that were announced to the service before: the answer was lost, or an earlier visit has announced them.
import { describe, expect, it } from "vitest";
import { type Item, makeQueue, type Steps } from "../../web/src/uploads/queue.ts";
import {
  type Announcement,
  type KeptAnnouncement,
  stepsFor,
  type Ticket,
  type UploadRoutes,
} from "../../web/src/uploads/steps.ts";
import { apiError, source, until } from "../support/upload-queue.ts";

describe("an announcement whose answer was lost", () => {
  const item = (name: string) => ({ source: source(name), digest: "d" }) as Item;
  const ticket = (name: string, status = "pending_upload"): Ticket => ({
    id: `id of ${name}`,
    file: { filename: name, size_bytes: 1_000, checksum_sha256: "d", metadata: {}, status },
    form: { url: "", fields: {}, expires_at: "" } as unknown as Ticket["form"],
  });

  /** Answers each announcement with the next of `answers`, and keeps the last one as the browser does. */
  function service(...answers: (readonly Ticket[] | Error)[]) {
    const asked: Announcement[] = [];
    const removed: string[] = [];
    let saved: Announcement | undefined;
    const routes: UploadRoutes = {
      tickets: async (announcement) => {
        asked.push(announcement);
        const answer = answers.shift() ?? [];
        if (answer instanceof Error) throw answer;
        return answer;
      },
      parts: async () => Promise.reject(new Error("not asked for")),
      confirm: async () => {},
      remove: async (id) => void removed.push(id),
      removeUnsent: async (id) => void removed.push(id),
    };
    const kept: KeptAnnouncement = {
      load: () => saved,
      save: (announcement) => {
        saved = announcement;
      },
    };
    return { asked, removed, steps: () => stepsFor(routes, kept) };
  }
  const names = ({ files }: Announcement) => files.map(({ filename }) => filename).join();

  it("is repeated with its key, and its files are not announced again", async () => {
    const { asked, steps } = service(new Error("lost"), [ticket("a"), ticket("b")], [ticket("c")]);
    const page = steps();
    await expect(page.tickets([item("a"), item("b")])).rejects.toThrow("lost");
    const again = ["b", "c"].map(item);
    await page.tickets(again);
    expect(again.map(({ id }) => id)).toEqual(["id of b", "id of c"]);
    expect(asked.map(names)).toEqual(["a,b", "a,b", "c"]);
    expect(new Set(asked.map(({ key }) => key)).size).toBe(2);
    const last = item("a");
    await page.tickets([last]);
    expect([last.id, asked.length]).toEqual(["id of a", 3]);
  });

  it("is repeated by the page that was loaded after it, once", async () => {
    const { asked, steps } = service(new Error("lost"), [ticket("a")]);
    await expect(steps().tickets([item("a")])).rejects.toThrow("lost");
    const page = steps();
    const again = item("a");
    await page.tickets([again]);
    expect([again.id, asked.length, asked[1]?.key]).toEqual(["id of a", 2, asked[0]?.key]);
  });

  it.each([
    ["is refused", apiError(422, { detail: "bad" })],
    ["is above a quota", apiError(429, { detail: "too much audio", code: "quota_exceeded" })],
    ["names files that were deleted since", apiError(404, { detail: "gone", code: "audio_file_not_found" })],
  ])("stops no other file when it %s", async (_, refusal) => {
    const { asked, steps } = service(new Error("lost"), refusal, [ticket("b")]);
    await expect(steps().tickets([item("a")])).rejects.toThrow("lost");
    const other = item("b");
    await steps().tickets([other]);
    expect([other.id, asked.map(names)]).toEqual(["id of b", ["a", "a", "b"]]);
  });

  it("leaves nothing when its files are given up", async () => {
    const { removed, steps } = service(new Error("lost"), [ticket("a"), ticket("b")]);
    await expect(steps().tickets([item("a"), item("b")])).rejects.toThrow("lost");
    await steps().discardAnnounced();
    expect(removed).toEqual(["id of a", "id of b"]);
  });
});

describe("files of a job that were announced before the page was loaded", () => {
  it("take the records that the job has, one each, and only the others are announced", async () => {
    const file = (name: string, status: string) => ({
      filename: name,
      size_bytes: 1_000,
      checksum_sha256: "d",
      status,
    });
    const announcedNames: string[][] = [];
    const sentIds: string[] = [];
    const routes: UploadRoutes = {
      present: async () => [
        { id: "half", file: file("half.wav", "pending_upload"), form: undefined },
        { id: "whole", file: file("whole.wav", "queued"), form: undefined },
        { id: "other", file: { ...file("new.wav", "queued"), checksum_sha256: "e" }, form: undefined },
      ],
      tickets: async ({ files }) => {
        announcedNames.push(files.map(({ filename }) => filename));
        return files.map(({ filename }) => ({
          id: `fresh ${filename}`,
          file: file(filename, "pending_upload"),
          form: undefined,
        }));
      },
      parts: async (id) => {
        sentIds.push(id);
        return { part_size_bytes: 1_000, part_count: 1, missing_part_count: 0, parts: [] } as never;
      },
      confirm: async () => ({}),
      remove: async () => ({}),
      removeUnsent: async () => ({}),
    };
    const steps: Steps = { ...stepsFor(routes), digest: async () => "d" };
    const queue = makeQueue(steps, () => {});
    queue.add([source("half.wav"), source("whole.wav"), source("new.wav")]);
    await until(() => queue.items.peek().every(({ phase }) => phase.peek() === "done"));
    expect(announcedNames).toEqual([["new.wav"]]);
    expect(sentIds.sort()).toEqual(["fresh new.wav", "half", "whole"]);
  });
});
