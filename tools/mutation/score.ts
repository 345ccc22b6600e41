// The share of killed mutants with its 95 % interval (Wilson's, which stays within 0 and 100 %). Pure. Called by main.ts.
export function scoreOf(killed: number, all: number): string {
  if (all === 0) return "no mutants";
  const z = 1.96;
  const share = killed / all;
  const middle = (share + z ** 2 / (2 * all)) / (1 + z ** 2 / all);
  const half = (z / (1 + z ** 2 / all)) * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2));
  const percent = (part: number) => (100 * part).toFixed(1);
  return `${percent(share)} % (95 %: ${percent(middle - half)} to ${percent(middle + half)} %)`;
}
