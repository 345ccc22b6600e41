// Parses completion indexes as the status of an Indexed Job lists them: "0-3,5". Pure; used by decide.ts and status.ts.

/** Returns the numbers of a list such as "1,3-5,7". */
export function parseIndexes(text: string | undefined): number[] {
  if (text === undefined || text === "") return [];
  return text.split(",").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  });
}
