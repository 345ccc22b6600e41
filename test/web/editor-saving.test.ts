// Labels on their way to the service: what is sent, and what happens when others change the same file, when an answer is
// lost, when the network or the session ends.
import { describe, expect, it } from "vitest";
import { ApiError } from "../../client/error.ts";
import { makeAutosave, type Start, type Steps, type Verdict } from "../../web/src/editor/autosave.ts";
import { keptOf, restored } from "../../web/src/editor/keeping.ts";
import type { Base, RegionMap } from "../../web/src/editor/merge.ts";
import type { Region } from "../../web/src/editor/region.ts";
import { judge } from "../../web/src/editor/verdict.ts";
import { poll } from "../support/poll.ts";

const region = (key: string, startMs: number, over: Partial<Region> = {}): Region => ({
  key,
  type: "click",
  startMs,
  endMs: startMs + 50,
  confidence: 1,
  annotator: null,
  extraData: {},
  ...over,
});
const mapOf = (...regions: readonly Region[]): RegionMap => new Map(regions.map((r) => [r.key, r]));
const baseOf = (...regions: readonly Region[]): Base =>
  new Map(regions.map((r) => [r.key, { id: `id-${r.key}`, region: r }]));
const starts = (regions: RegionMap) =>
  [...regions.values()].map(({ startMs }) => startMs).sort((a, b) => a - b);

const [a, b, c] = [region("a", 100), region("b", 200), region("c", 300)];

class Refusal extends Error {
  readonly verdict: Verdict;
  constructor(verdict: Verdict) {
    super(verdict.is);
    this.verdict = verdict;
  }
}

/** A service in memory with the rules of the real one, for the order of requests; `over` breaks steps. */
function service(labels: readonly Region[], over: Partial<Steps> = {}) {
  const store = new Map(labels.map((r) => [`id-${r.key}`, { ...r, key: `id-${r.key}` }]));
  let [revision, nextId] = [1, 1];
  const log: string[] = [];
  const guard = (etag: string) => {
    if (etag !== String(revision)) throw new Refusal({ is: "read" });
    revision++;
  };
  const steps: Steps = {
    async create(regions, etag) {
      guard(etag);
      log.push(`create ${regions.length}`);
      const ids = regions.map((r) => {
        const id = `new-id-${nextId++}`;
        store.set(id, { ...r, key: id });
        return id;
      });
      return { ids, etag: String(revision) };
    },
    async change(changes, etag) {
      guard(etag);
      log.push(`change ${changes.length}`);
      for (const { id, region: r } of changes) store.set(id, { ...r, key: id });
      return { etag: String(revision) };
    },
    async remove(ids, etag) {
      guard(etag);
      log.push(`remove ${ids.length}`);
      for (const id of ids) store.delete(id);
      return { etag: String(revision) };
    },
    async read() {
      log.push("read");
      return { theirs: [...store].map(([id, r]) => ({ id, region: r })), etag: String(revision) };
    },
    judge: (error) => (error instanceof Refusal ? error.verdict : { is: "retry", reason: String(error) }),
    pause: async () => void log.push("pause"),
    ...over,
  };
  return {
    steps,
    log,
    starts: () => starts(mapOf(...store.values())),
    /** Somebody else changes the set. */
    others(change: (all: Map<string, Region>) => void) {
      change(store);
      revision++;
    },
  };
}

const startOf = (...labels: readonly Region[]): Start => ({
  base: baseOf(...labels),
  regions: mapOf(...labels),
  conflicts: [],
  disputed: new Map(),
  etag: "1",
});

function open(fake: ReturnType<typeof service>, ...labels: readonly Region[]) {
  const heard: number[] = [];
  const autosave = makeAutosave(startOf(...labels), fake.steps, {
    changed() {},
    others: (count) => heard.push(count),
  });
  const until = (is: string) => poll(`the state ${is}`, () => autosave.state.value.is === is, 10_000);
  const change = (...regions: readonly Region[]) => {
    autosave.set(mapOf(...regions));
    autosave.flush();
  };
  return { autosave, until, change, heard };
}

describe("saving", () => {
  it("sends what was deleted, changed and added, each once, and then has nothing left", async () => {
    const fake = service([a, b]);
    const { autosave, until, change } = open(fake, a, b);
    change({ ...b, endMs: 999 }, c);
    await until("saved");
    expect(fake.log).toEqual(["remove 1", "change 1", "create 1"]);
    expect(autosave.unsaved.value).toBe(0);
    change({ ...b, endMs: 999 }, { ...c, startMs: 310 });
    await until("saved");
    expect(fake.log.slice(3)).toEqual(["change 1"]);
    expect(fake.starts()).toEqual([200, 310]);
  });

  it("sends changes that were made while it saved", async () => {
    const fake = service([]);
    const create = fake.steps.create;
    const { until, change, autosave } = open({
      ...fake,
      steps: {
        ...fake.steps,
        async create(regions, etag) {
          autosave.set(
            mapOf(a, ...(autosave.regions.value.byKey.has("c") ? [c] : []), { ...b, startMs: 222 }),
          );
          return await create(regions, etag);
        },
      },
    });
    change(a, b);
    await until("saved");
    expect(fake.starts()).toEqual([100, 222]);
  });

  it("merges what others have changed, tells it, and goes on", async () => {
    const fake = service([a]);
    const { autosave, until, change, heard } = open(fake, a);
    fake.others((all) => all.set("id-d", region("id-d", 400)));
    change({ ...a, endMs: 999 }, b);
    await until("saved");
    expect(fake.log).toEqual(["read", "change 1", "create 1"]);
    expect(fake.starts()).toEqual([100, 200, 400]);
    expect(autosave.regions.value.list).toHaveLength(3);
    expect(heard).toEqual([1]);
  });

  it("pauses when the service refuses its version again and again, as behind a proxy that changes ETags", async () => {
    const fake = service([a]);
    const tries: string[] = [];
    const { autosave, change } = open(
      {
        ...fake,
        steps: {
          ...fake.steps,
          change: async () => {
            tries.push("change");
            throw new Refusal({ is: "read" });
          },
          pause: async () => {
            tries.push("pause");
            if (tries.length > 8) await new Promise(() => {});
          },
        },
      },
      a,
    );
    change({ ...a, endMs: 999 });
    await poll("four pauses", () => tries.filter((one) => one === "pause").length === 4);
    expect(tries.slice(0, 4)).toEqual(["change", "change", "pause", "change"]);
    expect(autosave.state.value.is).toBe("retrying");
    autosave.stop();
  });

  it("waits for a decision when both have changed one label, and saves it", async () => {
    const fake = service([a]);
    const { autosave, until, change } = open(fake, a);
    fake.others((all) => all.set("id-a", region("id-a", 90)));
    change({ ...a, startMs: 110 }, b);
    await until("conflict");
    expect([autosave.unsaved.value, fake.starts()]).toEqual([2, [90]]);
    // A reload before the decision asks again.
    const { base, regions, sent } = autosave.snapshot();
    const { theirs } = await fake.steps.read();
    expect(restored(keptOf(base, regions, sent), theirs).conflicts).toMatchObject([
      { mine: { startMs: 110 }, theirs: { startMs: 90 } },
    ]);
    autosave.decide(
      () => "both",
      () => "new",
    );
    await until("saved");
    expect(fake.starts()).toEqual([90, 110, 200]);
  });

  it("tries again after a failure, and reads first if an answer was lost, so that nothing is doubled", async () => {
    const fake = service([]);
    const create = fake.steps.create;
    let isFirst = true;
    fake.steps.create = async (regions, etag) => {
      const answer = await create(regions, etag);
      if (!isFirst) return answer;
      isFirst = false;
      throw new Error("no answer");
    };
    const { until, change } = open(fake);
    change(a);
    await until("saved");
    expect(fake.log).toEqual(["create 1", "pause", "read"]);
    expect(fake.starts()).toEqual([100]);
  });

  it("does not double a label that was moved before its lost answer was noticed", async () => {
    const fake = service([]);
    const create = fake.steps.create;
    let isFirst = true;
    fake.steps.create = async (regions, etag) => {
      const answer = await create(regions, etag);
      if (!isFirst) return answer;
      isFirst = false;
      throw new Error("no answer");
    };
    fake.steps.pause = async () => autosave.set(mapOf({ ...a, startMs: 110 }));
    const { autosave, until, change } = open(fake);
    change(a);
    await until("saved");
    expect(fake.starts()).toEqual([110]);
  });

  it("waits when the session has ended, keeps all of it, and goes on when told", async () => {
    const fake = service([]);
    let isSignedOut = true;
    const create = fake.steps.create;
    fake.steps.create = async (regions, etag) => {
      if (isSignedOut) throw new Refusal({ is: "wait", reason: "the session has ended" });
      return await create(regions, etag);
    };
    const { autosave, until, change } = open(fake);
    change(a);
    await until("paused");
    expect(keptOf(...(Object.values(autosave.snapshot()) as Parameters<typeof keptOf>)).changes).toHaveLength(
      1,
    );
    isSignedOut = false;
    autosave.flush();
    await until("saved");
    expect(fake.starts()).toEqual([100]);
  });

  it("saves the others when one label is refused, and tries that one again when it was changed", async () => {
    const fake = service([]);
    const create = fake.steps.create;
    fake.steps.create = async (regions, etag) => {
      const at = regions.findIndex(({ type }) => type === "gone");
      if (at !== -1) throw new Refusal({ is: "faulty", faults: [{ at, reason: "no such type" }] });
      return await create(regions, etag);
    };
    const { autosave, until, change } = open(fake);
    change(a, { ...b, type: "gone" });
    await until("refused");
    expect([fake.starts(), [...autosave.faults.value]]).toEqual([[100], [["b", "no such type"]]]);
    change(a, b);
    await until("saved");
    expect(fake.starts()).toEqual([100, 200]);
  });

  it("sends a refused label again as it is when told", async () => {
    const fake = service([]);
    const create = fake.steps.create;
    fake.steps.create = async () => {
      fake.steps.create = create;
      throw new Refusal({ is: "faulty", faults: [{ at: 0, reason: "no such type" }] });
    };
    const { autosave, until, change } = open(fake);
    change(a);
    await until("refused");
    autosave.flush();
    await until("saved");
    expect([fake.starts(), autosave.faults.value.size]).toEqual([[100], 0]);
  });

  it("sends a label that was corrected while the service refused it", async () => {
    const fake = service([]);
    const create = fake.steps.create;
    const { autosave, until, change } = open(fake);
    fake.steps.create = async () => {
      fake.steps.create = create;
      change(b);
      throw new Refusal({ is: "faulty", faults: [{ at: 0, reason: "no such type" }] });
    };
    change({ ...b, type: "gone" });
    await until("saved");
    expect([fake.starts(), autosave.faults.value.size]).toEqual([[200], 0]);
  });

  it("gives up what is refused for good only when told", async () => {
    const fake = service([a], {
      change: async () => {
        throw new Refusal({ is: "refused", reason: "published" });
      },
    });
    const { autosave, until, change } = open(fake, a);
    change({ ...a, endMs: 999 });
    await until("refused");
    expect(autosave.unsaved.value).toBe(1);
    autosave.revert();
    expect([autosave.unsaved.value, autosave.regions.value.list[0]?.endMs]).toEqual([0, 150]);
  });
});

describe("a failure", () => {
  // A Response that a test makes has no address.
  const refusal = (status: number, body: unknown) => {
    const response = new Response(null, { status });
    Object.defineProperty(response, "url", { value: "http://127.0.0.1/x" });
    return new ApiError(response, body);
  };

  it.each([
    [new TypeError("Failed to fetch"), "retry"],
    [refusal(412, { detail: "changed", code: "precondition_failed" }), "read"],
    [refusal(401, { detail: "ended", code: "session_ended" }), "wait"],
    [refusal(409, { detail: "published", code: "annotation_set_published" }), "refused"],
    [refusal(409, { detail: "copying", code: "annotation_set_copying" }), "retry"],
    [refusal(404, { detail: "gone", code: "annotation_set_not_found" }), "refused"],
    [refusal(404, { detail: "gone", code: "annotation_not_found" }), "read"],
    [refusal(429, { detail: "slow down", code: "rate_limited" }), "retry"],
    [refusal(429, { detail: "full", code: "quota_exceeded" }), "refused"],
    [refusal(503, { detail: "starting" }), "retry"],
    [
      refusal(422, { detail: [{ loc: ["body", "annotations", 3, "end_ms"], msg: "no", type: "x" }] }),
      "faulty",
    ],
    [refusal(422, { detail: [{ loc: ["query", "x"], msg: "no", type: "x" }] }), "refused"],
  ])("%s means %s", (error, verdict) => expect(judge(error).is).toBe(verdict));
});
