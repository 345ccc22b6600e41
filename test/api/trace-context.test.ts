// The trace context of a request is stored on the row of the job that it creates, and copied to the job's custom
// resource if it is valid. Also the client's address behind proxies.
import type { IncomingMessage } from "node:http";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { addressOf, traceparentOf } from "../../src/api/request-facts.ts";
import { maybeOneSubmission } from "../../src/db/operator/outbox.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import { resourceOf } from "../../src/submit.ts";
import { type Client, execute, useApi } from "../support/api.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset, makeTrainable } from "../support/world.ts";

const api = useApi();
let client: Client;
beforeAll(async () => {
  client = await api.tenant();
});

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const withTrace = { traceparent: trace };

async function annotationsOf(kind: "training" | "inference", id: string) {
  const db = api.pool.asTenant(client.tenantId);
  const submission = await maybeOneSubmission(db, defaultInstallation, kind, id);
  return resourceOf(submission!, id, "plosive").metadata.annotations;
}

describe("a trace context", () => {
  it("is copied from the request to the training job's custom resource, and from a retry to the resource of the new job", async () => {
    const body = await makeTrainable(client, api.db);
    const { id } = (await client.post("/api/v1/training-jobs", body, withTrace)).body;
    expect(await annotationsOf("training", id)).toEqual({ "plosive.dev/traceparent": trace });
    await execute(api.db, sql.fragment`update training_jobs set status = 'failed' where id = ${id}`);
    const other = trace.replace("4bf", "5bf");
    const again = await client.post(`/api/v1/training-jobs/${id}/retry`, {}, { traceparent: other });
    expect(await annotationsOf("training", again.body.id)).toEqual({ "plosive.dev/traceparent": other });
    const plain = (await client.post("/api/v1/training-jobs", body)).body;
    expect(await annotationsOf("training", plain.id)).toBeUndefined();
  });

  it("is copied from the request to the inference job's custom resource, unless it is malformed", async () => {
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(api.db, client.tenantId, dataset);
    const training = await addTrainingJob(api.db, client.tenantId, dataset, await setOf(dataset));
    const body = {
      model_id: await addModel(api.db, client.tenantId, training),
      audio_file_ids: [audio],
    };
    const one = (await client.post("/api/v1/inference-jobs", body, withTrace)).body;
    expect(await annotationsOf("inference", one.id)).toEqual({ "plosive.dev/traceparent": trace });
    const malformed = (await client.post("/api/v1/inference-jobs", body, { traceparent: `${trace}-x` })).body;
    expect(await annotationsOf("inference", malformed.id)).toBeUndefined();
  });

  it.each([
    [trace, trace],
    [trace.toUpperCase(), null],
    [`${trace} `, null],
    [trace.replace(/^00/, "ff"), null],
    ["00-00000000000000000000000000000000-00f067aa0ba902b7-01", null],
    ["00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", null],
    [`${trace}, ${trace}`, null],
    ["", null],
    [undefined, null],
  ])("%s is read as %s", (header, read) => {
    expect(traceparentOf(header)).toBe(read);
  });
});

async function setOf(dataset: string): Promise<string> {
  return (await client.post(`/api/v1/datasets/${dataset}/annotation-sets`)).body.id;
}

describe("the client's address", () => {
  const request = (remoteAddress: string, forwarded?: string) =>
    ({ headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress } }) as unknown as IncomingMessage;

  it.each([
    ["the peer's address without trusted proxies, whatever the header says", 0, "203.0.113.5", "10.0.0.1"],
    ["the last entry with one proxy", 1, "203.0.113.5, 192.0.2.9", "192.0.2.9"],
    ["the second last entry with two", 2, "1.1.1.1, 203.0.113.5, 192.0.2.9", "203.0.113.5"],
    [
      "the peer's address when the header has fewer entries than there are proxies",
      3,
      "192.0.2.9",
      "10.0.0.1",
    ],
    ["the peer's address when a proxy sends no address", 1, "unknown", "10.0.0.1"],
    ["the peer's address when a proxy sends no header", 1, undefined, "10.0.0.1"],
    ["an IPv6 address too", 1, "2001:db8::1", "2001:db8::1"],
    ["an IPv6 address without its zone", 1, "fe80::1%eth0", "fe80::1"],
  ])("is %s", (_, proxies, forwarded, address) => {
    expect(addressOf(request("10.0.0.1", forwarded), proxies)).toBe(address);
  });

  it("is written as IPv4 where it is IPv4 mapped into IPv6", () => {
    expect(addressOf(request("::ffff:192.0.2.9"), 0)).toBe("192.0.2.9");
  });

  it("is written without the zone of the peer's address", () => {
    expect(addressOf(request("fe80::1%eth0"), 0)).toBe("fe80::1");
  });
});
