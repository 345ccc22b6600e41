// How times in a recording are written and read: "1:02.345". Pure.

const two = (value: number) => String(value).padStart(2, "0");

/** "0:01.250", "1:02:03.004". `digits` after the point: 0 to 3. */
export function clockOf(ms: number, digits: 0 | 1 | 2 | 3 = 3): string {
  const unit = 10 ** (3 - digits);
  const whole = Math.round(Math.max(0, ms) / unit) * unit;
  const seconds = Math.floor(whole / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const part =
    digits === 0
      ? ""
      : `.${String(whole % 1000)
          .padStart(3, "0")
          .slice(0, digits)}`;
  return `${h > 0 ? `${h}:${two(m)}` : m}:${two(s)}${part}`;
}

/** Milliseconds of "1:02.5", "62.5", "1:00:02"; undefined for anything else. */
export function parseClock(text: string): number | undefined {
  const parts = text.trim().replace(",", ".").split(":");
  if (parts.length > 3 || parts.some((part, i) => !validPart(part, i === parts.length - 1))) return undefined;
  const seconds = parts.reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round(seconds * 1000);
}

const validPart = (part: string, isLast: boolean) =>
  isLast ? /^\d{1,5}(\.\d{1,6})?$/.test(part) : /^\d{1,4}$/.test(part);

/** Seconds for speech: "1.25", "62.3". */
const inSeconds = (ms: number) => String(Math.round(ms) / 1000);

/** "click, 1.25 to 1.31 s": what is announced and read of a region. */
export const wordsOf = (type: string, startMs: number, endMs: number): string =>
  startMs === endMs
    ? `${type}, at ${inSeconds(startMs)} s`
    : `${type}, ${inSeconds(startMs)} to ${inSeconds(endMs)} s`;

/** What a handle says: "start 1.234 seconds". */
export const handleText = (edge: "start" | "end", ms: number) => `${edge} ${inSeconds(ms)} seconds`;
