// Finds the artifact type of the dataset that a label refers to, and collects the types to create. Used by import.ts
// and by the route that makes a draft of detections.

const maxTypes = 64;

export interface TypeIndex {
  readonly known: Set<string>;
  /** Lower-case name -> name. The types of a dataset differ in more than upper and lower case. */
  readonly byFold: Map<string, string>;
  readonly mayCreate: boolean;
  readonly created: string[];
}

export function indexTypes(names: readonly string[], mayCreate: boolean): TypeIndex {
  return {
    known: new Set(names),
    byFold: new Map(names.map((name) => [name.toLowerCase(), name])),
    mayCreate,
    created: [],
  };
}

/**
 * Returns the type with this name, created if allowed, or the problem. Ignores leading and trailing spaces of the
 * label.
 */
export function pickType(
  index: TypeIndex,
  label: string,
): { name: string; problem?: undefined } | { name?: undefined; problem: string } {
  if (index.known.has(label)) return { name: label };
  const name = label.trim();
  if (index.known.has(name)) return { name };
  const alike = index.byFold.get(name.toLowerCase());
  if (alike !== undefined)
    return {
      problem: `The dataset has the artifact type ${alike}, which differs only in upper and lower case`,
    };
  if (!index.mayCreate)
    return { problem: `The dataset has no artifact type ${name}; add it, or import with create_types=true` };
  if (index.known.size >= maxTypes)
    return { problem: `The dataset would have more than ${maxTypes} artifact types` };
  index.known.add(name);
  index.byFold.set(name.toLowerCase(), name);
  index.created.push(name);
  return { name };
}
