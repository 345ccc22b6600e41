// Conditions as immutable values. Setting one keeps lastTransitionTime unless the status changed. Pure; used by the
// code that computes the status of each kind.

type AnyCondition = {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  observedGeneration: number;
  lastTransitionTime: string;
};

/** Returns a new list with the condition in its old place or at the end. `at` is used only when the status changed. */
export function withCondition<C extends AnyCondition>(
  conditions: readonly C[],
  condition: Omit<C, "lastTransitionTime">,
  at: string,
): C[] {
  const old = conditions.find(({ type }) => type === condition.type);
  const changed = old === undefined || old.status !== condition.status;
  const next = { ...condition, lastTransitionTime: changed ? at : old.lastTransitionTime } as C;
  return old === undefined
    ? [...conditions, next]
    : conditions.map((other) => (other === old ? next : other));
}

export function conditionOf<C extends AnyCondition>(
  conditions: readonly C[] | undefined,
  type: C["type"],
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isTrue(conditions: readonly AnyCondition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}
