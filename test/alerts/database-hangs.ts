// The fault that most alerts follow: the database accepts connections and does not answer. Called by faults.ts.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { kubectl, until } from "../e2e/cluster.ts";
import { statusOf, trainingJob } from "../e2e/jobs.ts";
import { type Fault, freeze, request, run, startJob } from "./scene.ts";

/** More than the 20 that the alerts of the objectives require. */
const ending = 24;
/** More than the operator works off while every reconcile waits for the database. */
const waiting = 600;

export const databaseHangs: Fault = {
  fault: `The database hangs while ${ending} jobs end, ${ending} jobs that can run are created, and ${waiting} suspended ones`,
  alerts: [
    ...["PlosiveApiErrors", "PlosiveApiErrorBudget", "PlosiveSweepStale"],
    ...["PlosiveBacklog", "PlosiveReconcileErrors"],
  ],
  afterwards: ["PlosiveStatusBudget", "PlosiveJobBudget"],
  also: [
    "PlosiveStatusLag",
    "PlosiveEventLag",
    "PlosiveStatusOverdue",
    "PlosiveOutboxLag",
    "PlosiveProgressRejected",
  ],
  remedy: "The database answers again",
  async cause(scene) {
    const { account, data } = scene;
    const jobs = await Promise.all(
      Array.from({ length: ending }, () => startJob(scene, "ends-late", { retries: { perShard: 0 } })),
    );
    await until("pods of all jobs", 180_000, async () => {
      const states = await Promise.all(jobs.map(statusOf));
      // A job that has ended before does not end late.
      expect(states.filter(({ phase }) => phase === "Failed")).toEqual([]);
      return states.every(({ phase }) => phase === "Running") || undefined;
    });
    const release = await freeze("plosive-database-0", "postgres");
    let isOver = false;
    const requests = (async () => {
      while (!isOver) {
        await Promise.allSettled(Array.from({ length: 4 }, () => request(scene, "GET", "datasets")));
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    })();
    const many = (count: number, name: string, spec: object) =>
      Array.from({ length: count }, (_, n) => trainingJob(account, `${name}-${run}-${n}`, data, spec));
    const items = [
      ...many(ending, "late", { profile: "ends-late", retries: { perShard: 0 } }),
      ...many(waiting, "held", { suspend: true }),
    ];
    const folder = mkdtempSync(join(tmpdir(), "plosive-alerts-"));
    const answerAgain = async () => {
      release();
      isOver = true;
      await requests;
    };
    try {
      const file = join(folder, "jobs.json");
      writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
      await kubectl("create", "-f", file);
    } catch (error) {
      await answerAgain();
      throw error;
    } finally {
      rmSync(folder, { recursive: true });
    }
    return answerAgain;
  },
};
