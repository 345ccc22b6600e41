// The health check for Argo CD in docs/kubectl.md, as it stands there, on statuses that the operator writes.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type LuaEngine, LuaFactory } from "wasmoon";
import { parse } from "yaml";
import { endStatus, openStatus } from "../../controllers/job/status.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { blocksOf } from "../support/documents.ts";
import { child, facts, resource, running } from "../support/facts.ts";

const heading = "## Health in Flux and Argo CD";
const [block = ""] = blocksOf("docs/kubectl.md", heading, "yaml");
const health = parse(parse(block).data["resource.customizations"])["plosive.dev/*"]["health.lua"];
let lua: LuaEngine;
beforeAll(async () => {
  lua = await new LuaFactory().createEngine({ enableProxy: false });
});
afterAll(() => lua.global.close());

async function healthOf(status: JobStatus | undefined, generation = 2) {
  // Argo CD reads the resource as JSON.
  lua.global.set("obj", JSON.parse(JSON.stringify({ metadata: { generation }, spec: {}, status })));
  return await lua.doString(health);
}
const wait = { kind: "wait" } as const;
const runs = openStatus(facts({ child: child(), pods: [running(0)] }), wait);
const ended = (end: string) =>
  endStatus(
    facts({}),
    { kind: "end", end, reason: "Completed", message: "It ended.", failedShards: new Map() } as never,
    {},
  );

it("a job is progressing, suspended, healthy or degraded", async () => {
  expect(await healthOf(undefined)).toMatchObject({ status: "Progressing" });
  expect(await healthOf(runs)).toEqual({ status: "Progressing", message: "Pods run." });
  const suspended = openStatus(facts({ cr: resource({ suspend: true }) }), wait);
  expect(await healthOf(suspended)).toMatchObject({ status: "Suspended" });
  expect(await healthOf(ended("Succeeded"))).toEqual({ status: "Healthy", message: "It ended." });
  expect(await healthOf(ended("Failed"))).toEqual({ status: "Degraded", message: "It ended." });
  expect(await healthOf(ended("Cancelled"))).toEqual({ status: "Degraded", message: "It ended." });
});

it("a resource whose last change the operator has not seen is progressing", async () => {
  expect(await healthOf(ended("Succeeded"), 3)).toMatchObject({ status: "Progressing" });
});
