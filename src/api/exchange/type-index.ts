// Which artifact type of the dataset a foreign label means, and which are to be made. Used by import.ts.

const maxTypes = 64;

export interface TypeIndex {
  readonly known: Set<string>;
  /** Lower case to name: types of a dataset differ by more than case. */
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

/** The type of this name, made if that is allowed, or why there is none. Spaces at its ends are the tool's. */
export function pickType(
  index: TypeIndex,
  label: string,
): { name: string; problem?: undefined } | { name?: undefined; problem: string } {
  if (index.known.has(label)) return { name: label };
  const name = label.trim();
  if (index.known.has(name)) return { name };
  const alike = index.byFold.get(name.toLowerCase());
  if (alike !== undefined)
    return { problem: `The dataset calls the artifact type ${alike}: it differs in upper and lower case` };
  if (!index.mayCreate)
    return { problem: `The dataset has no artifact type ${name}; add it, or import with create_types=true` };
  if (index.known.size >= maxTypes)
    return { problem: `The dataset would have more than ${maxTypes} artifact types` };
  index.known.add(name);
  index.byFold.set(name.toLowerCase(), name);
  index.created.push(name);
  return { name };
}
