// Conditions as values: setting one keeps its time unless its status turned. Pure; used by the kinds' status code.

type AnyCondition = {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  observedGeneration: number;
  lastTransitionTime: string;
};

/** A new list with the condition in it, in its old place or at the end. `at` counts only when the status turned. */
export function withCondition<C extends AnyCondition>(
  conditions: readonly C[],
  condition: Omit<C, "lastTransitionTime">,
  at: string,
): C[] {
  const old = conditions.find(({ type }) => type === condition.type);
  const turned = old === undefined || old.status !== condition.status;
  const next = { ...condition, lastTransitionTime: turned ? at : old.lastTransitionTime } as C;
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
