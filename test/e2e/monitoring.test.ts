// Monitoring of the installed service by a Prometheus outside of the cluster: it discovers pods as docs/metrics.md
// describes, scrapes them through the API server, and has data for every panel and every alert rule of the chart. The
// test causes what they ask for, in the account that test files share.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeApiKey } from "../../src/api/api-key-format.ts";
import { repoDir } from "../../tools/cache.ts";
import { composeVoices } from "../../tools/demo/voices.ts";
import { waitForEmbeddings } from "../../tools/demo/waiting.ts";
import { askPanels, askRule, readDashboards, readRules } from "../metrics/questions.ts";
import type { Prometheus } from "../support/prometheus.ts";
import { type Account, admin, findAddress, sharedAccount } from "./accounts.ts";
import { kubectlJson, namespace, until } from "./cluster.ts";
import { cancel, type Made, train, waitsFor } from "./jobs.ts";
import { podProcesses } from "./machine.ts";
import { startMonitor } from "./monitor.ts";
import { addProfiles } from "./profiles.ts";
import { sharedTrainable, takes, uploadTo } from "./takes.ts";

let prometheus: Prometheus;
let waiting: Made;

beforeAll(async () => {
  // First, because it may restart the operator.
  await addProfiles();
  const account = await sharedAccount();
  const { user } = account;
  prometheus = await startMonitor([join(repoDir, "charts/plosive/files/alerts.yaml")]);
  await useTheApi(account);
  // An upload and an embedding job; then a job that waits for a GPU, which no node has, until the tests end.
  const { id } = await user.createDataset("monitoring", []);
  await uploadTo(user, id, (await composeVoices(takes)).train.paths.slice(0, 1));
  expect((await waitForEmbeddings(user, id, () => {})).failed).toEqual([]);
  const data = await sharedTrainable(account);
  waiting = await train(account, `monitoring-${Date.now().toString(36)}`, data, { profile: "no-gpu" });
  await waitsFor(waiting, "Unschedulable", /Insufficient nvidia\.com\/gpu/);
});
afterAll(async () => {
  if (waiting !== undefined) await cancel(waiting);
  await prometheus?.stop();
});

/** Causes of the panels about failures: a bad key, too many requests, an unreachable webhook, a store that hangs. */
async function useTheApi({ tenant }: Account): Promise<void> {
  const [address, key] = [await findAddress(), await admin("keys", "create", "--tenant", tenant)];
  const send = async (method: "GET" | "POST", path: string, body?: object, apiKey = key) => {
    const answer = await fetch(`${address}/api/v1/${path}`, {
      method,
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  expect((await send("GET", "datasets", undefined, makeApiKey(randomBytes))).status).toBe(401);
  // The cluster does not resolve external names, so each attempt fails.
  expect((await send("POST", "webhooks", { url: "https://example.com/hook" })).status).toBe(201);
  const made = await send("POST", "datasets", { name: "monitoring" });
  const file = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };
  const audio = `datasets/${made.body.id}/audio`;
  const ticket = await send("POST", `${audio}/upload-url`, file);
  const { metadata } = await kubectlJson<{ metadata: { uid: string } }>(
    ...["get", "pod", "plosive-object-store-0"],
  );
  const servers = podProcesses(metadata.uid, "versitygw");
  expect(servers).not.toEqual([]);
  for (const pid of servers) process.kill(pid, "SIGSTOP");
  try {
    expect((await send("POST", `${audio}/${ticket.body.audio_file_id}/confirm`)).status).toBe(503);
  } finally {
    for (const pid of servers) process.kill(pid, "SIGCONT");
  }
  // The local cluster's rate limits are high; that of training jobs is the lowest.
  await until("a request over the rate limit", 180_000, async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => send("POST", "training-jobs", {})));
    return answers.some(({ body }) => body.code === "rate_limited") ? true : undefined;
  });
}

const answers = async (expr: string) => (await prometheus.query(expr)).length;

test("the scrape configuration of the guide finds the pods of operator, run endpoint and API and no others", async () => {
  await until("all parts to be scraped", 180_000, async () => {
    const up = (job: string, part: string) =>
      answers(`up{job="plosive-${job}",pod=~"plosive-${part}-.+",namespace="${namespace}"} == 1`);
    const found = [await up("operator", "operator"), await up("operator", "runs"), await up("api", "api")];
    return found.every((pods) => pods > 0) || undefined;
  });
  const others = await prometheus.query('up{pod!~"plosive-(operator|runs|api)-.+"}');
  expect(others).toEqual([]);
});

test.each(readDashboards())("every panel of $title has data", async (dashboard) => {
  const place = { namespace, operator: "plosive-operator", api: "plosive-api" };
  // The API counts deliveries when they arrive or are given up. Here none arrives, and each is retried for days.
  await askPanels(prometheus, dashboard, place, ["plosive_webhook_deliveries_total"]);
});

test("every alert rule finds the series that it asks for", async () => {
  for (const rule of readRules()) await askRule(prometheus, rule);
  const leaders = await prometheus.query('sum(leader_election_master_status{job="plosive-operator"})');
  expect(leaders[0]?.value[1]).toBe("1");
});
