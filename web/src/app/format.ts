// How numbers, sizes, lengths and times are written. Pure; `locale` and `now` are arguments for tests.

export const count = (value: number, locale?: string) => value.toLocaleString(locale);

/** "1 file", "2 files". */
export const plural = (value: number, one: string, many = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : many}`;

const units = ["B", "kB", "MB", "GB", "TB", "PB"];

/** Decimal units, as in the documentation. */
export function bytes(value: number): string {
  let rest = value;
  let unit = 0;
  // 999,600 bytes would be written as 1000 kB.
  while (unit < units.length - 1 && rest >= (unit === 0 ? 1000 : 999.5)) {
    rest /= 1000;
    unit++;
  }
  const digits = unit === 0 || rest >= 99.95 ? 0 : 1;
  return `${rest.toFixed(digits).replace(/\.0$/, "")} ${units[unit]}`;
}

/** The length of a recording: "0:04.2", "4:32", "1:02:05". */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h > 0) return `${h}:${two(m)}:${two(s)}`;
  return ms < 10_000 ? `${m}:${two(s)}.${Math.floor((ms % 1000) / 100)}` : `${m}:${two(s)}`;
}

/** An amount of time in words: "45 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
export function amountOfTime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  if (first === -1) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

const steps = [
  [60, 1, "second"],
  [3600, 60, "minute"],
  [86_400, 3600, "hour"],
  [604_800, 86_400, "day"],
] as const;

/** "just now", "3 minutes ago", "in 2 hours"; a date if it is longer than a week away. */
export function ago(iso: string, now: number, locale?: string, style: "long" | "narrow" = "long"): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 10) return "just now";
  const step = steps.find(([below]) => distance < below);
  if (step === undefined) return day(iso, locale);
  const [, size, unit] = step;
  return new Intl.RelativeTimeFormat(locale, { numeric: style === "long" ? "auto" : "always", style }).format(
    Math.trunc(seconds / size),
    unit,
  );
}

export const day = (iso: string, locale?: string) =>
  new Date(iso).toLocaleDateString(locale, { year: "numeric", month: "short", day: "numeric" });

export const moment = (iso: string, locale?: string) =>
  new Date(iso).toLocaleString(locale, { dateStyle: "medium", timeStyle: "medium" });
