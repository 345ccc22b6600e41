// Computes the conditions of an open job from its facts and the verdict of this reconcile. Pure; called by status.ts.
import type { Condition } from "../../src/schemas/condition.ts";
import { conditionOf, isTrue, withCondition } from "../runtime/conditions.ts";
import { isWorkedOn } from "./deadlines.ts";
import type { Verdict } from "./decide.ts";
import type { Facts } from "./facts.ts";
import { hasStarted, waitingAfter, waitingOf } from "./pods.ts";

export type ConditionUpdate = Pick<Condition, "type" | "status" | "reason" | "message">;
type Why = Pick<Condition, "reason" | "message">;

/**
 * Applies the updates to the list of conditions, with the current time and generation, and then what follows for Ready and
 * Stalled. Cuts messages at 1000 characters.
 */
export function setConditions(
  { cr, now }: Pick<Facts, "cr" | "now">,
  conditions: readonly Condition[],
  updates: ConditionUpdate[],
) {
  const at = new Date(now).toISOString();
  const observedGeneration = cr.metadata.generation ?? 0;
  const set = (list: Condition[], update: ConditionUpdate) =>
    withCondition(list, { ...update, message: update.message.slice(0, 1000), observedGeneration }, at);
  const updated = updates.reduce(set, [...conditions]);
  return readiness(updated).reduce(set, updated);
}

const ends: readonly Condition["type"][] = ["Succeeded", "Failed", "Cancelled"];

/**
 * A job is ready once it has succeeded, and stalled once it has ended otherwise. One that waits is neither, even if it is
 * refused: the operator goes on checking it.
 */
function readiness(conditions: readonly Condition[]): ConditionUpdate[] {
  const end = conditions.find(({ type, status }) => ends.includes(type) && status === "True");
  const { reason, message } = end ?? conditionOf(conditions, "Progressing") ?? conditions.at(-1)!;
  const ready = {
    type: "Ready",
    status: end?.type === "Succeeded" ? "True" : "False",
    reason,
    message,
  } as const;
  const isStalled = end !== undefined && end.type !== "Succeeded";
  return isStalled ? [ready, { ...ready, type: "Stalled", status: "True" }] : [ready];
}

export function openConditions(facts: Facts, verdict: Verdict): Condition[] {
  const old = facts.cr.status?.conditions ?? [];
  if (verdict.kind === "refuse") {
    const { reason, message } = verdict;
    return setConditions(facts, old, [
      { type: "Accepted", status: "False", reason, message },
      { type: "Progressing", status: "False", reason, message },
    ]);
  }
  const updates: ConditionUpdate[] = [quotaReserved(facts)];
  // A refused job can be cancelled too, and has no row.
  if (facts.row !== null) {
    const accepted = `The job is recorded in the database with id ${facts.row.id}.`;
    updates.unshift(
      { type: "Accepted", status: "True", reason: "Accepted", message: accepted },
      {
        type: "StoreSynced",
        status: "True",
        reason: "RecordsUpdated",
        message: "The database agrees with this status.",
      },
    );
  }
  const running = verdict.kind !== "create" && isWorkedOn(facts);
  const why = whyNot(facts, verdict);
  const started = isTrue(old, "Started") || (verdict.kind !== "create" && hasStarted(facts.pods));
  if (started)
    updates.push({
      type: "Started",
      status: "True",
      reason: "PodsRunning",
      message: "A pod of the job has run.",
    });
  else updates.push({ type: "Started", status: "False", ...why });
  if (facts.cr.spec.suspend) {
    const message = "The job is suspended; no pods run until spec.suspend is false.";
    updates.push({ type: "Suspended", status: "True", reason: "SuspendRequested", message });
  } else if (conditionOf(old, "Suspended") !== undefined) {
    updates.push({
      type: "Suspended",
      status: "False",
      reason: "Resumed",
      message: "The job is not suspended.",
    });
  }
  updates.push(progressing(facts, running, why));
  if (facts.cr.status?.checkpoint !== undefined || facts.checkpoint !== undefined) {
    const message = "If the training loses its pod, it resumes from its last checkpoint.";
    updates.push({ type: "Checkpointed", status: "True", reason: "CheckpointWritten", message });
  } else if (running && facts.checkpoints) {
    const message = "No checkpoint has been written yet. If the training loses its pod, it starts over.";
    updates.push({ type: "Checkpointed", status: "False", reason: "NoCheckpoint", message });
  }
  return setConditions(facts, old, updates);
}

function quotaReserved({ admission }: Facts): ConditionUpdate {
  if (!admission.admitted)
    return { type: "QuotaReserved", status: "False", reason: admission.reason, message: admission.message };
  return { type: "QuotaReserved", status: "True", reason: "Admitted", message: "The job may run." };
}

function progressing({ progress }: Facts, running: boolean, why: Why): ConditionUpdate {
  if (!running) return { type: "Progressing", status: "False", ...why };
  const reports = progress.length > 0;
  const message = reports ? "Pods run and report." : "Pods run.";
  return { type: "Progressing", status: "True", reason: reports ? "Reporting" : "PodsRunning", message };
}

/** Why no pod runs. Requests of the user come first, then past events, then what the pods wait for. */
function whyNot({ cr, admission, pods, lostPods, failedPods }: Facts, verdict: Verdict): Why {
  if (cr.spec.suspend) return { reason: "SuspendRequested", message: "The job is suspended." };
  if (!admission.admitted) return { reason: admission.reason, message: admission.message };
  if (verdict.kind === "create") {
    if (verdict.attempt === 1) return waitingOf([]);
    const message = "The Kubernetes Job of the previous run was deleted. A new run has started.";
    return { reason: "ChildDeleted", message };
  }
  const waiting = waitingOf(pods, lostPods);
  if (waiting.reason !== "WaitingForPods") return waiting;
  return waitingAfter(failedPods.at(-1)?.failure) ?? waiting;
}
