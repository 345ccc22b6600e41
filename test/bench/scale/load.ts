// Requests at a fixed rate to endpoints in random order, and their times. Called by main.ts.
import type { Answer } from "../fair/traffic.ts";

export interface Endpoint {
  readonly name: string;
  readonly send: () => Promise<Answer>;
}

export interface Times {
  readonly requests: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
}

/** Sends `perSecond` requests a second, whether earlier ones were answered or not. Returns the times of each endpoint. */
export async function loadAt(
  endpoints: readonly Endpoint[],
  perSecond: number,
  seconds: number,
): Promise<ReadonlyMap<string, Times>> {
  const pending: Promise<{ name: string; answer: Answer }>[] = [];
  const begin = performance.now();
  for (let nth = 0; nth < perSecond * seconds; nth++) {
    const due = begin + (nth * 1_000) / perSecond - performance.now();
    if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
    const { name, send } = endpoints[Math.floor(Math.random() * endpoints.length)]!;
    pending.push(send().then((answer) => ({ name, answer })));
  }
  const answers = await Promise.all(pending);
  return new Map(
    endpoints.map(({ name }) => {
      const own = answers.filter((one) => one.name === name).map(({ answer }) => answer);
      const times = own.map(({ ms }) => ms).sort((a, b) => a - b);
      const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
      const failed = own.filter(({ status }) => status !== 200).length;
      return [name, { requests: own.length, failed, p50: at(0.5), p99: at(0.99) }];
    }),
  );
}

export const tableHead = [
  "| GET | requests | failed | p50 ms | p99 ms | p99 during the deletion, ms |",
  "|---|---|---|---|---|---|",
].join("\n");

/** A row of the table; `during` is undefined for endpoints of the deleted dataset. */
export function lineOf(name: string, quiet: Times, during: Times | undefined): string {
  const failed = quiet.failed + (during?.failed ?? 0);
  const cells = [
    name,
    quiet.requests,
    failed,
    quiet.p50.toFixed(1),
    quiet.p99.toFixed(1),
    during?.p99.toFixed(1) ?? "",
  ];
  return `| ${cells.join(" | ")} |`;
}
