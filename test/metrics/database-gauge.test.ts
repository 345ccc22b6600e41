// A gauge whose values the database has, while the database does not answer.
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { addDatabaseGauge } from "../../src/database-gauge.ts";
import { makeLog } from "../../src/log.ts";

it("leaves the other metrics to the scrape while the database does not answer, and asks once", async () => {
  const registry = new Registry();
  const answers: PromiseWithResolvers<{ labels: { stage: string }; value: number }[]>[] = [];
  addDatabaseGauge({
    ...{ name: "lag", help: "Lag", labelNames: ["stage"], registry, log: makeLog("test", "fatal") },
    ask: () => {
      const answer = Promise.withResolvers<{ labels: { stage: string }; value: number }[]>();
      answers.push(answer);
      return answer.promise;
    },
  });
  const began = performance.now();
  for (let scrape = 0; scrape < 2; scrape++) expect(await registry.metrics()).not.toContain("lag{");
  expect(performance.now() - began).toBeLessThan(4_000);
  expect(answers).toHaveLength(1);

  answers[0]!.reject(new Error("the database is away"));
  await new Promise((resolve) => setImmediate(resolve));
  const scraped = registry.metrics();
  answers[1]!.resolve([{ labels: { stage: "numbering" }, value: 7 }]);
  expect(await scraped).toContain('lag{stage="numbering"} 7');
});
