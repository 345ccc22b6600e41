// The conditions of a job that goes on, from the facts and what is being done about it. Pure; called by status.ts.
import type { Condition } from "../../src/schemas/condition.ts";
import { conditionOf, isTrue, withCondition } from "../runtime/conditions.ts";
import type { Verdict } from "./decide.ts";
import type { Facts } from "./facts.ts";
import { hasStarted, isWorkedOn, waitingOf, waitingSince } from "./pods.ts";

export type Words = Pick<Condition, "type" | "status" | "reason" | "message">;
type Why = Pick<Condition, "reason" | "message">;

/** Sets conditions one after the other, all of them said now and about the present spec. */
export function turn(
  { cr, now }: Pick<Facts, "cr" | "now">,
  conditions: readonly Condition[],
  words: Words[],
) {
  const at = new Date(now).toISOString();
  const observedGeneration = cr.metadata.generation ?? 0;
  return words.reduce<Condition[]>(
    (list, each) =>
      withCondition(list, { ...each, message: each.message.slice(0, 1000), observedGeneration }, at),
    [...conditions],
  );
}

export function openConditions(facts: Facts, verdict: Verdict): Condition[] {
  const old = facts.cr.status?.conditions ?? [];
  if (verdict.kind === "refuse") {
    const { reason, message } = verdict;
    return turn(facts, old, [
      { type: "Accepted", status: "False", reason, message },
      { type: "Progressing", status: "False", reason, message },
    ]);
  }
  const said: Words[] = [quotaReserved(facts)];
  // One that was refused can be cancelled too, and never was in the records.
  if (facts.row !== null) {
    const accepted = `The job is in the service's records as ${facts.row.id}.`;
    said.unshift(
      { type: "Accepted", status: "True", reason: "Accepted", message: accepted },
      { type: "StoreSynced", status: "True", reason: "RecordsUpdated", message: "The records say the same." },
    );
  }
  const running = verdict.kind !== "create" && isWorkedOn(facts.pods, facts.lostPods);
  const why = whyNot(facts, verdict);
  const started = isTrue(old, "Started") || (verdict.kind !== "create" && hasStarted(facts.pods));
  if (started)
    said.push({
      type: "Started",
      status: "True",
      reason: "PodsRunning",
      message: "A pod of the job has run.",
    });
  else said.push({ type: "Started", status: "False", ...why });
  if (facts.cr.spec.suspend) {
    const message = "The job is suspended; no pods run until spec.suspend is false.";
    said.push({ type: "Suspended", status: "True", reason: "SuspendRequested", message });
  } else if (conditionOf(old, "Suspended") !== undefined) {
    said.push({
      type: "Suspended",
      status: "False",
      reason: "Resumed",
      message: "The job is not suspended.",
    });
  }
  said.push(progressing(facts, running, why));
  if (facts.cr.status?.checkpoint !== undefined || facts.checkpoint !== undefined) {
    const message = "A training that loses its pod goes on from its last checkpoint.";
    said.push({ type: "Checkpointed", status: "True", reason: "CheckpointWritten", message });
  } else if (running && facts.checkpoints) {
    const message = "No checkpoint is written yet: a training that loses its pod now begins anew.";
    said.push({ type: "Checkpointed", status: "False", reason: "NoCheckpoint", message });
  }
  return turn(facts, old, said);
}

function quotaReserved({ admission }: Facts): Words {
  if (!admission.admitted)
    return { type: "QuotaReserved", status: "False", reason: admission.reason, message: admission.message };
  return { type: "QuotaReserved", status: "True", reason: "Admitted", message: "The job may run." };
}

function progressing({ progress }: Facts, running: boolean, why: Why): Words {
  if (!running) return { type: "Progressing", status: "False", ...why };
  const reports = progress.length > 0;
  const message = reports ? "Pods run and report." : "Pods run.";
  return { type: "Progressing", status: "True", reason: reports ? "Reporting" : "PodsRunning", message };
}

/** Why no pod runs: what was asked for comes before what has happened, and that before what is waited for. */
function whyNot({ cr, admission, pods, lostPods, failedPods }: Facts, verdict: Verdict): Why {
  if (cr.spec.suspend) return { reason: "SuspendRequested", message: "The job is suspended." };
  if (!admission.admitted) return { reason: admission.reason, message: admission.message };
  if (verdict.kind === "create") {
    if (cr.status?.runId === undefined) return waitingOf([]);
    const message = "The Kubernetes Job of the last run was deleted; a new run has begun.";
    return { reason: "ChildDeleted", message };
  }
  const waiting = waitingOf(pods, lostPods);
  if (waiting.reason !== "WaitingForPods") return waiting;
  return waitingSince(failedPods.at(-1)?.failure) ?? waiting;
}
