// A gauge whose values the database has, while the database does not answer.
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { addDatabaseGauge } from "../../src/database-gauge.ts";
import { makeLog } from "../../src/log.ts";

type Answer = { labels: Record<string, string>; value: number }[];

const rows: { labels: Record<string, string>; line: string }[] = [
  { labels: { stage: "numbering" }, line: 'lag{stage="numbering"} 7' },
  { labels: {}, line: "lag 7" },
];

it.each(rows)(
  "leaves the other metrics to the scrape while the database does not answer: $line",
  async (row) => {
    const registry = new Registry();
    const answers: PromiseWithResolvers<Answer>[] = [];
    addDatabaseGauge({
      ...{ name: "lag", help: "Lag", labelNames: Object.keys(row.labels), registry },
      log: makeLog("test", "fatal"),
      ask: () => {
        const answer = Promise.withResolvers<Answer>();
        answers.push(answer);
        return answer.promise;
      },
    });
    const lines = async () => (await registry.metrics()).split("\n").filter((line) => /^lag[ {]/.test(line));
    const began = performance.now();
    for (let scrape = 0; scrape < 2; scrape++) expect(await lines()).toEqual([]);
    expect(performance.now() - began).toBeLessThan(4_000);
    // The second scrape waited for the same answer.
    expect(answers).toHaveLength(1);

    // An answer that was too late for its scrape is there at the next one, which asks again.
    answers[0]!.resolve([{ labels: row.labels, value: 7 }]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await lines()).toEqual([row.line]);
    expect(answers).toHaveLength(2);

    answers[1]!.reject(new Error("the database is away"));
    await new Promise((resolve) => setImmediate(resolve));
    const next = lines();
    answers[2]!.reject(new Error("the database is away"));
    expect(await next).toEqual([]);
  },
);
