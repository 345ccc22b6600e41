// Bytes that are not exactly one HTTP request: the server sends one refusal in JSON and closes the connection.
import { beforeAll, describe, expect, it } from "vitest";
import { useApi } from "../support/api.ts";
import { makeWorld } from "../support/world.ts";
import { digestOfTables } from "./digest.ts";
import { filled, type Target } from "./play.ts";
import { sendBytes } from "./send.ts";
import { endingEarly, rawCases } from "./table/framing.ts";

const api = useApi();
let target: Target;
beforeAll(async () => {
  const client = await api.tenant();
  target = { url: api.url, key: client.key, world: await makeWorld(client, api.db) };
});

describe("bytes that are not one request", () => {
  it("get one refusal in JSON, and the server closes the connection and changes nothing", async () => {
    const before = await digestOfTables(api.db);
    const faults = await Promise.all(
      rawCases.map(async ({ name, bytes, status }) => {
        const answer = await sendBytes(api.url, filled(String(bytes), target));
        const answers = answer.match(/HTTP\/1\.1 \d{3} /g) ?? [];
        const json = answer.slice(answer.indexOf("\r\n\r\n") + 4);
        const fine = answers.length === 1 && answer.startsWith(`HTTP/1.1 ${status} `) && isRefusal(json);
        return fine ? undefined : `${name}: wanted ${status}, got ${JSON.stringify(answer.slice(0, 500))}`;
      }),
    );
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
    expect(await digestOfTables(api.db)).toEqual(before);
    console.info(`${rawCases.length} hostile byte sequences`);
  });

  it.each(endingEarly)("create nothing when the client disconnects %s", async (_, bytes) => {
    const before = await digestOfTables(api.db);
    const answer = await sendBytes(api.url, filled(bytes, target), { end: true });
    expect(answer).not.toMatch(/HTTP\/1\.1 [25]/);
    expect(await digestOfTables(api.db)).toEqual(before);
  });
});

function isRefusal(json: string): boolean {
  try {
    const { detail, code } = JSON.parse(json);
    return typeof detail === "string" && typeof code === "string";
  } catch {
    return false;
  }
}
