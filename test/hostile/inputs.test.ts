// Every case of the table of hostile inputs gets its documented refusal and changes nothing.
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, useApi } from "../support/api.ts";
import { makeWorld } from "../support/world.ts";
import type { HostileCase } from "./case.ts";
import { digestOfTables } from "./digest.ts";
import { fault, makeWebhook, play, type Target } from "./play.ts";
import { operations } from "./table/description.ts";
import { bodyCases, fieldCases, parameterCases, unknownIdCases } from "./table/fields.ts";
import { jsonCases } from "./table/json.ts";
import { ruleCases } from "./table/request-rules.ts";
import { requestCases } from "./table/requests.ts";

const api = useApi();
let client: Client;
let target: Target;
beforeAll(async () => {
  client = await api.tenant();
  target = {
    url: api.url,
    key: client.key,
    world: await makeWorld(client, api.db),
    webhookId: await makeWebhook(client),
  };
  await api.settle();
});

const groups: Readonly<Record<string, readonly HostileCase[]>> = {
  "body fields": fieldCases,
  "complete bodies": bodyCases,
  "path and query parameters": parameterCases,
  "unknown ids": unknownIdCases,
  "JSON and text": jsonCases,
  "paths, keys, headers and queries": requestCases,
  "headers with semantics": ruleCases,
};

/** Sends a few requests concurrently; the order of the answers does not matter. */
async function playAll(cases: readonly HostileCase[]): Promise<string[]> {
  const faults: string[] = [];
  const queue = [...cases];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const hostile = next;
      const found = await play(hostile, target).then(
        (answer) => fault(hostile, answer),
        (error) => `${hostile.name}: no answer: ${error}`,
      );
      if (found !== undefined) faults.push(found);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return faults;
}

describe("the table of hostile inputs", () => {
  it.each(Object.entries(groups))(
    "gives each case of %s its documented refusal and changes nothing",
    async (_, cases) => {
      const before = await digestOfTables(api.db);
      expect(await playAll(cases)).toEqual([]);
      await api.settle();
      expect(await digestOfTables(api.db)).toEqual(before);
    },
  );

  it("has at least 300 cases with unique names, and expects documented statuses only", () => {
    const all = Object.values(groups).flat();
    console.info(
      `${all.length} hostile inputs:`,
      Object.entries(groups)
        .map(([name, cases]) => `${cases.length} ${name}`)
        .join(", "),
    );
    expect(all.length).toBeGreaterThanOrEqual(300);
    expect(new Set(all.map((hostile) => hostile.name)).size).toBe(all.length);
    for (const { request, status, name } of all) {
      const operation = operations.find(
        ({ method, path }) => method === request.method && path === request.path.split("?")[0],
      );
      if (operation !== undefined) expect(operation.statuses, name).toContain(String(status));
    }
  });
});
