// Which file of a set comes next. Pure.

/** The first file after the present one that is not reviewed; from the beginning if there is none behind it. */
export function nextUnreviewed(
  files: readonly string[],
  reviewed: ReadonlySet<string>,
  present: string,
): string | undefined {
  const at = files.indexOf(present);
  return [...files.slice(at + 1), ...files.slice(0, Math.max(0, at))].find((id) => !reviewed.has(id));
}
