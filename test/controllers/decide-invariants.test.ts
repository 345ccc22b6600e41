// Invariants of the decision about a job, for random facts: an ended job stays ended, no second Job while one may run, nothing
// runs against the user's will, and every wait has a reason and an end. Pure.
import { beforeAll, describe, expect, it } from "vitest";
import { deadlinesOf } from "../../controllers/job/deadlines.ts";
import { decide, hasEnded, type Verdict } from "../../controllers/job/decide.ts";
import type { Facts } from "../../controllers/job/facts.ts";
import { openStatus } from "../../controllers/job/status.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import {
  ago,
  bad,
  child,
  conditions,
  ended,
  facts,
  now,
  pod,
  resource,
  row,
  running,
  said,
} from "../support/facts.ts";
import { rounds, seed } from "../support/trial.ts";

let state = seed % 2 ** 31;
const random = (below: number) => {
  state = (state * 1103515245 + 12345) % 2 ** 31;
  return Math.floor((state / 2 ** 31) * below);
};
const maybe = () => random(2) === 0;
const rarely = () => random(8) === 0;
const oneOf = <T>(...values: readonly T[]): T => values[random(values.length)] as T;
const shards = () => [0, 1, 2].filter(maybe);

function randomStatus(): Partial<JobStatus> | undefined {
  if (maybe()) return undefined;
  const attempt = 1 + random(3);
  return {
    attempt,
    runId: `${resource().metadata.name}-${attempt}`,
    ...(maybe() ? { startTime: ago(random(2_000)) } : {}),
    ...oneOf({ heldSince: ago(random(5_000)) }, { pendingSince: ago(random(300)) }, {}),
    ...(maybe() ? { suspendedSeconds: random(500) } : {}),
    conditions: [
      ...(rarely() ? [said(oneOf("Succeeded", "Failed", "Cancelled"), "True", 9)] : []),
      said("Progressing", oneOf("True", "False"), random(500)),
      ...(maybe() ? [said("Suspended", oneOf("True", "False"), random(500))] : []),
    ],
  };
}

const randomPod = (shard: number) =>
  oneOf(
    running(shard),
    ended(shard, oneOf(0, 1, 64, 137)),
    pod(shard, { phase: "Pending" }),
    pod(shard, { phase: "Succeeded" }),
  );

function randomFacts(): Facts {
  const cr = resource(
    { suspend: rarely(), ...(rarely() ? { cancel: { reason: "enough" } } : {}) },
    randomStatus(),
  );
  const lastAttempt = Math.max(cr.status?.attempt ?? 0, rarely() ? random(25) : 0);
  const hasChild = maybe();
  const job = child(
    {
      completedIndexes: shards().join(","),
      failedIndexes: rarely() ? "2" : "",
      conditions: rarely()
        ? conditions(oneOf("Complete", "Failed")).map((each) => ({ ...each, lastTransitionTime: ago(9) }))
        : [],
    },
    { suspend: rarely(), parallelism: oneOf(2, 3) },
  );
  const isAdmitted = maybe();
  return facts({
    cr,
    lastAttempt,
    row: rarely() ? null : row({ status: rarely() ? oneOf("completed", "failed", "cancelled") : "queued" }),
    child: hasChild ? job : undefined,
    pods: hasChild ? shards().map(randomPod) : [],
    lostPods: hasChild && rarely() ? [running(1)] : [],
    ingested: new Set(maybe() ? shards() : []),
    bad: new Map(rarely() ? [[0, bad]] : []),
    listeningSince: now - random(2_000_000),
    outages: maybe() ? [{ from: now - 100_000, to: now - random(100_000) }] : [],
    admission: isAdmitted
      ? { admitted: true }
      : { admitted: false, reason: "WaitingForQuota", message: "Full." },
    profileKnown: !rarely(),
    ...(rarely() ? { kueue: { active: maybe() } } : {}),
  });
}

const counts = new Map<Verdict["kind"], number>();
const all: { given: Facts; verdict: Verdict }[] = [];
beforeAll(() => {
  for (let n = 0; n < rounds({ slice: 20_000, full: 200_000 }); n++) {
    const given = randomFacts();
    const verdict = decide(given);
    counts.set(verdict.kind, (counts.get(verdict.kind) ?? 0) + 1);
    all.push({ given, verdict });
  }
});

/** Fails with the first facts that break the rule. */
const always = (holds: (given: Facts, verdict: Verdict) => boolean) => {
  const broken = all.find(({ given, verdict }) => !holds(given, verdict));
  expect(broken).toBeUndefined();
};
const isOpen = ({ cr, row }: Facts) => !hasEnded(cr) && row !== null && row.status === "queued";

describe("a decision", () => {
  it("of every kind was met", () => {
    for (const kind of [
      "settled",
      "refuse",
      "ingest",
      "end",
      "create",
      "patch",
      "activate",
      "wait",
      "stop",
    ] as const)
      expect([kind, (counts.get(kind) ?? 0) > 20]).toEqual([kind, true]);
  });

  it("leaves an ended job as it is", () => {
    always(({ cr }, verdict) => !hasEnded(cr) || verdict.kind === "settled");
    always(({ row, cr }, verdict) => {
      const end = { completed: "Succeeded", failed: "Failed", cancelled: "Cancelled" }[String(row?.status)];
      if (end === undefined || hasEnded(cr)) return true;
      return (
        verdict.kind === "ingest" ||
        (verdict.kind === "end" &&
          // All files of a complete job may have failed.
          (verdict.end === end || (end === "Failed" && verdict.end === "Succeeded")))
      );
    });
  });

  it("creates no Job while one may run, and each with a number of its own", () => {
    always(
      (given, verdict) =>
        verdict.kind !== "create" || (given.child === undefined && verdict.attempt === given.lastAttempt + 1),
    );
  });

  it("neither creates nor resumes a Job that is suspended, cancelled, refused or not admitted", () => {
    always(({ cr, row, admission, kueue }, verdict) => {
      const starts =
        verdict.kind === "create" ||
        (verdict.kind === "patch" && verdict.suspend === false) ||
        (verdict.kind === "activate" && verdict.active);
      if (!starts) return true;
      const isAdmitted = admission.admitted || kueue !== undefined;
      return !cr.spec.suspend && cr.spec.cancel === undefined && row !== null && isAdmitted;
    });
  });

  it("ends a cancelled job at once, but for results and pods whose end is not known yet", () => {
    always(
      ({ cr }, verdict) =>
        cr.spec.cancel === undefined || ["settled", "end", "ingest", "wait", "refuse"].includes(verdict.kind),
    );
  });
});

describe("a wait", () => {
  it("has a reason in the status", () => {
    always((given, verdict) => {
      if (verdict.kind !== "wait" || !isOpen(given)) return true;
      const progressing = openStatus(given, verdict).conditions?.find(({ type }) => type === "Progressing");
      return progressing !== undefined && progressing.message !== "";
    });
  });

  it("has a clock: the job is held, or a deadline will end it", () => {
    always((given, verdict) => {
      if (verdict.kind !== "wait" || !isOpen(given) || given.child === undefined) return true;
      const status = openStatus(given, verdict);
      if (status.heldSince !== undefined) return true;
      const later = { ...given, cr: { ...given.cr, status } };
      return deadlinesOf(later).some(({ which }) => which !== "progress");
    });
  });

  it("ends: with the same pods and results, the decision after a week is another one", () => {
    always((given, verdict) => {
      if (verdict.kind !== "wait" || !isOpen(given) || given.child === undefined) return true;
      const status = openStatus(given, verdict);
      if (status.heldSince !== undefined) return true;
      const later = { ...given, cr: { ...given.cr, status }, now: now + 8 * 86_400_000 };
      return decide(later).kind !== "wait";
    });
  });
});
