// Matches paths of the dashboard against patterns such as "/datasets/:id". Pure; used by router.ts and pages.tsx.

export type Params = Readonly<Record<string, string>>;

/** Returns the values of the pattern's parameters, or undefined if the path does not match. */
export function match(pattern: string, path: string): Params | undefined {
  const wanted = segments(pattern);
  const given = segments(path);
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, name] of wanted.entries()) {
    const value = given[i] ?? "";
    if (!name.startsWith(":")) {
      if (name !== value) return undefined;
      continue;
    }
    try {
      params[name.slice(1)] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return params;
}

const segments = (path: string) => path.split("/").filter((part) => part !== "");
