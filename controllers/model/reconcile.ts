// Copies the state of models from their rows to the status of Model resources: whether it is archived, and its F1
// score. Called by controllers/controllers.ts.

import { isDeepStrictEqual } from "node:util";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { type ModelRow, maybeOneModelRow } from "../../src/db/operator/ingest.ts";
import type { Kube } from "../../src/kube/client.ts";
import { isConflict } from "../../src/kube/errors.ts";
import { models } from "../../src/kube/kinds.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import type { ModelResource } from "../../src/schemas/model.ts";
import { withCondition } from "../runtime/conditions.ts";
import { type Outcome, RetryError, settled } from "../runtime/outcome.ts";
import type { Store } from "../runtime/store.ts";

type Model = ModelResource & KubeObject;

export function makeModelReconcile(deps: {
  db: DatabasePool;
  kube: Kube;
  namespace: string;
  store: Store<Model>;
  now: () => number;
}) {
  const { db, kube, namespace, store } = deps;
  return async (name: string): Promise<Outcome> => {
    const model = store.get(name);
    const id = /^m-([0-9a-f-]{36})$/.exec(name)?.[1];
    if (model === undefined || id === undefined || model.metadata.deletionTimestamp !== undefined)
      return settled;
    const row = await maybeOneModelRow(db, id);
    if (row === null) return settled;
    const status = modelStatus(row, model, new Date(deps.now()).toISOString());
    if (isDeepStrictEqual(model.status, status)) return settled;
    const { uid, resourceVersion } = model.metadata;
    try {
      const object = { metadata: { name, namespace, uid, resourceVersion }, status } as unknown as Model;
      store.set(
        await kube.apply(models, object, { fieldManager: "plosive-operator", subresource: "status" }),
      );
    } catch (error) {
      if (isConflict(error)) throw new RetryError("the custom resource changed during this reconcile");
      throw error;
    }
    return settled;
  };
}

/** Pure. The metrics come from the worker; missing ones are left out. */
function modelStatus(
  { archived, evalMetrics }: Pick<ModelRow, "archived" | "evalMetrics">,
  { metadata: { generation: observedGeneration = 0 }, status }: Model,
  at: string,
): NonNullable<Model["status"]> {
  const overall = evalMetrics.overall as Record<string, unknown> | undefined;
  const f1 = overall?.macro_f1 ?? overall?.f1;
  // An archived model is ready too: the resource is as it should be, and nothing follows.
  const ready = archived
    ? ({ reason: "Archived", message: "The model is archived. New inference jobs cannot use it." } as const)
    : ({ reason: "Available", message: "The model is complete." } as const);
  return {
    observedGeneration,
    phase: archived ? "Archived" : "Ready",
    ...(typeof f1 === "number" ? { f1: f1.toFixed(3) } : {}),
    conditions: withCondition<Condition>(
      status?.conditions ?? [],
      { type: "Ready", status: "True", ...ready, observedGeneration },
      at,
    ),
  };
}
