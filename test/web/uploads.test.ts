// The queue of uploads: order, number at once, retries, what happens to files that are removed or chosen again.
import { describe, expect, it, vi } from "vitest";
import { contentTypeOf, isHidden } from "../../web/src/uploads/audio-types.ts";
import { type Item, makeQueue, type Phase, type Steps, type Verdict } from "../../web/src/uploads/queue.ts";
import {
  type Interrupted,
  isOpen,
  loadInterrupted,
  matched,
  saveInterrupted,
} from "../../web/src/uploads/resume.ts";
import { judge } from "../../web/src/uploads/verdict.ts";
import { apiError, source, until } from "../support/upload-queue.ts";

const sources = (count: number) => Array.from({ length: count }, (_, i) => source(`${i}.wav`));

class Refusal extends Error {
  readonly verdict: Verdict["is"];
  constructor(verdict: Verdict["is"]) {
    super(verdict);
    this.verdict = verdict;
  }
}

/** Steps that succeed at once and record what they did; `over` replaces some. */
function recorded(over: Partial<Steps> = {}) {
  const log: string[] = [];
  let [sending, most] = [0, 0];
  const steps: Steps = {
    digest: async () => "d",
    tickets: async (items) => {
      log.push(`tickets ${items.length}`);
      for (const item of items) {
        item.id = `id of ${item.source.name}`;
        item.ticket = {};
      }
    },
    send: async (item) => {
      most = Math.max(most, ++sending);
      log.push(`send ${item.source.name}`);
      await new Promise((resolve) => setImmediate(resolve));
      sending--;
    },
    confirm: async (item) => void log.push(`confirm ${item.id}`),
    discard: async (id) => void log.push(`discard ${id}`),
    judge: (error) => ({ is: error instanceof Refusal ? error.verdict : "retry", reason: String(error) }),
    pause: async () => void log.push("pause"),
    ...over,
  };
  const queue = makeQueue(steps, () => {});
  const phases = () => queue.items.peek().map(({ phase }) => phase.peek());
  const settled = (wanted: Phase = "done") => until(() => phases().every((phase) => phase === wanted));
  return { queue, log, phases, settled, most: () => most };
}

describe("the queue", () => {
  it("sends three files at once, and announces many in one request", async () => {
    const { queue, log, settled, most } = recorded();
    queue.add(sources(100));
    await settled();
    expect(most()).toBe(3);
    expect(log.filter((line) => line.startsWith("confirm")).length).toBe(100);
    expect(log.filter((line) => line.startsWith("tickets")).length).toBeLessThan(20);
    expect(log[0]).toBe("tickets 3");
  });

  it("takes no file twice", async () => {
    const { queue, settled } = recorded();
    queue.add(sources(2));
    queue.add(sources(3));
    await settled();
    expect(queue.items.peek().length).toBe(3);
  });

  it("takes a file that failed again when it is chosen again, with the bytes of then and the id that it had", async () => {
    const moved = new Blob(["moved"]);
    const { queue, log, phases, settled } = recorded({
      send: async (item) => {
        if (item.source.bytes === moved) throw new Refusal("final");
      },
    });
    queue.add([{ ...source("0.wav"), bytes: moved }, source("1.wav")]);
    await until(() => phases().join() === "failed,done");
    queue.add([source("0.wav"), source("1.wav")]);
    await settled();
    expect(phases()).toEqual(["done", "done"]);
    expect(log.filter((line) => line.startsWith("tickets"))).toEqual(["tickets 2"]);
  });

  it("tries a file again after a pause, and gives up after three more attempts", async () => {
    let attempts = 0;
    const { queue, log, phases, settled } = recorded({
      send: async () => {
        attempts++;
        throw new Refusal("retry");
      },
    });
    queue.add(sources(1));
    await until(() => phases()[0] === "failed");
    expect([attempts, log.filter((line) => line === "pause").length]).toEqual([4, 3]);
    expect(queue.items.peek()[0]?.reason.peek()).toContain("retry");
    expect(log.filter((line) => line.startsWith("tickets"))).toEqual(["tickets 1"]);
    queue.retry(queue.items.peek());
    await settled("failed");
    expect(attempts).toBeGreaterThan(4);
  });

  it("does not try again what the service refuses for good, and goes on with the other files", async () => {
    const { queue, log, phases } = recorded({
      confirm: async (item) => {
        if (item.source.name === "1.wav") throw new Refusal("final");
      },
    });
    queue.add(sources(4));
    await until(() => phases().every((phase) => phase === "done" || phase === "failed"));
    expect(phases()).toEqual(["done", "failed", "done", "done"]);
    expect(log).not.toContain("pause");
  });

  it("announces the files of a refused batch one by one", async () => {
    const { queue, phases } = recorded({
      tickets: async (items) => {
        if (items.some(({ source: { name } }) => name === "2.wav")) throw new Refusal("final");
        for (const item of items) item.id = item.source.name;
      },
    });
    queue.add(sources(3));
    await until(() => phases().every((phase) => phase === "done" || phase === "failed"));
    expect(phases()).toEqual(["done", "done", "failed"]);
  });

  it("stands still when the session ends, and goes on afterwards", async () => {
    let isSignedIn = false;
    const { queue, phases, settled } = recorded({
      confirm: async () => {
        if (!isSignedIn) throw new Refusal("stop");
      },
    });
    queue.add(sources(2));
    await until(
      () =>
        queue.stopped.peek() !== undefined && !phases().includes("sending") && !phases().includes("checking"),
    );
    expect(phases()).not.toContain("failed");
    isSignedIn = true;
    queue.resume();
    await settled();
  });

  it("announces a file anew when the service has forgotten it", async () => {
    let isFirst = true;
    const { queue, log, settled } = recorded({
      confirm: async () => {
        if (isFirst) {
          isFirst = false;
          throw new Refusal("anew");
        }
      },
    });
    queue.add(sources(1));
    await settled();
    expect(log.filter((line) => line.startsWith("tickets")).length).toBe(2);
  });

  it("aborts a file that is removed, and deletes what the service has of it", async () => {
    let aborted = false;
    const { queue, log, phases } = recorded({
      send: (_, __, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("aborted"));
          }),
        ),
    });
    queue.add(sources(1));
    await until(() => phases()[0] === "sending");
    queue.remove(queue.items.peek()[0] as Item);
    await until(() => log.includes("discard id of 0.wav"));
    expect([aborted, queue.items.peek()]).toEqual([true, []]);
  });

  it("deletes a file that was removed while it was announced", async () => {
    const announced = Promise.withResolvers<void>();
    const { queue, log, phases } = recorded({
      tickets: async (items) => {
        await announced.promise;
        for (const item of items) item.id = "late";
      },
    });
    queue.add(sources(1));
    await until(() => phases()[0] === "reading");
    queue.remove(queue.items.peek()[0] as Item);
    announced.resolve();
    await until(() => log.includes("discard late"));
  });

  it("does not delete a finished file that leaves the list", async () => {
    const { queue, log, settled } = recorded();
    queue.add(sources(1));
    await settled();
    queue.remove(queue.items.peek()[0] as Item);
    expect(log.filter((line) => line.startsWith("discard"))).toEqual([]);
  });

  it("goes on with a file that has an id already, without announcing it", async () => {
    const { queue, log, settled } = recorded();
    queue.add([{ ...source("0.wav"), id: "known" }]);
    await settled();
    expect(log).toEqual(["send 0.wav", "confirm known"]);
  });
});

describe("files that are chosen again", () => {
  const open: Interrupted[] = [
    { path: "a/0.wav", size: 1_000, lastModified: 1, id: "x" },
    { path: "0.wav", size: 1_000, lastModified: 1, id: "y" },
  ];

  it("get their ids back by path, size and time", () => {
    const { sources: found, left } = matched(
      [{ ...source("0.wav"), path: "a/0.wav" }, source("new.wav")],
      open,
    );
    expect(found.map((file) => file.id)).toEqual(["x", undefined]);
    expect(left).toEqual([open[1]]);
  });

  it("are left out when they have arrived, also when they are chosen once more", () => {
    const arrived = [...open, { path: "done.wav", size: 1_000, lastModified: 1, id: "z", isDone: true }];
    const { sources: found, left } = matched([source("done.wav"), source("0.wav")], arrived);
    expect(found.map((file) => file.id)).toEqual(["y"]);
    expect(matched([source("done.wav")], left).sources).toEqual([]);
  });

  it("of more files than are kept are known with all that the service has of them", () => {
    const stored = new Map<string, string>();
    const localStorage = {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => stored.set(name, value),
      removeItem: (name: string) => stored.delete(name),
    };
    vi.stubGlobal("window", { localStorage });
    const entries = (count: number, name: string, more: object) =>
      Array.from({ length: count }, (_, i) => ({
        path: `${name}-${i}.wav`,
        size: 1,
        lastModified: 1,
        ...more,
      }));
    saveInterrupted(
      "t",
      "d",
      [],
      [
        ...entries(6_000, "waiting", {}),
        ...entries(100, "announced", { id: "x" }),
        ...entries(2_000, "arrived", { id: "y", isDone: true }),
      ],
    );
    const kept = loadInterrupted("t", "d");
    saveInterrupted(
      "t",
      "e",
      [],
      [...entries(6_000, "waiting", {}), ...entries(6_000, "arrived", { id: "y", isDone: true })],
    );
    expect(loadInterrupted("t", "e").filter(isOpen)).toHaveLength(1);
    vi.unstubAllGlobals();
    expect(kept).toHaveLength(5_000);
    const number = (name: string) => kept.filter(({ path }) => path.startsWith(name)).length;
    expect([number("announced"), number("arrived")]).toEqual([100, 2_000]);
  });

  it("are other files when they have changed since", () => {
    const { sources: found, left } = matched([source("0.wav", 999)], open);
    expect([found[0]?.id, left.length]).toEqual([undefined, 2]);
  });
});

describe("failures", () => {
  const verdictOf = (error: unknown, isOnline = true) => judge(error, { isOnline }).is;

  it.each([
    [apiError(401, { detail: "Invalid or missing API key" }), "stop"],
    [apiError(429, { detail: "too much audio", code: "quota_exceeded" }), "stop"],
    [apiError(409, { detail: "not audio", code: "unsupported_audio" }), "final"],
    [apiError(422, { detail: [{ loc: ["body"], msg: "bad", type: "x" }] }), "final"],
    [apiError(409, { detail: "differs", code: "upload_mismatch" }), "retry"],
    [apiError(404, { detail: "gone", code: "audio_file_not_found" }), "anew"],
    [apiError(404, { detail: "gone", code: "inference_file_not_found" }), "anew"],
    [apiError(409, { detail: "too late", code: "job_started" }), "final"],
    [apiError(503, { detail: "starting", code: "unavailable" }), "retry"],
    [new Error("uploading x to the object store at https://s3 failed: Error: no connection"), "retry"],
    [new Error("NotReadableError: gone"), "final"],
  ] as const)("%s: %s", (error, expected) => expect(verdictOf(error)).toBe(expected));

  it("stop the queue while the computer is offline", () =>
    expect(verdictOf(new Error("no connection"), false)).toBe("stop"));
});

describe("names of files", () => {
  it("say whether the service reads them", () => {
    expect(
      ["a.WAV", "b.flac", "c.mp3", "d.opus", "e.txt", "wav", "", "f.constructor"].map(contentTypeOf),
    ).toEqual([
      "audio/wav",
      "audio/flac",
      "audio/mpeg",
      "audio/opus",
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect([".DS_Store", "Thumbs.db", "take.wav"].map(isHidden)).toEqual([true, true, false]);
  });
});
