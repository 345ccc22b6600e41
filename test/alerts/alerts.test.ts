// Every alert of the chart, provoked by a fault on the local cluster and ended by the remedy of docs/alerts.md. Prometheus evaluates
// the chart's rules with shorter times. Prints the table at the end of docs/alerts.md, and draws the pictures of docs/metrics.md.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repoDir } from "../../tools/cache.ts";
import { makeUser } from "../../tools/demo/user.ts";
import { composeVoices } from "../../tools/demo/voices.ts";
import { waitForEmbeddings } from "../../tools/demo/waiting.ts";
import { admin, findAddress, sharedAccount } from "../e2e/accounts.ts";
import { kubectl, namespace, until } from "../e2e/cluster.ts";
import { startMonitor } from "../e2e/monitor.ts";
import { addProfiles } from "../e2e/profiles.ts";
import { sharedTrainable, takes, uploadTo } from "../e2e/takes.ts";
import type { Prometheus } from "../support/prometheus.ts";
import { erasableName, groups, operators } from "./faults.ts";
import { drawDashboards } from "./pictures.ts";
import { factor, writeShorterRules } from "./rules.ts";
import { available, type Fault, type Scene } from "./scene.ts";

const patienceMs = 600_000;
/** For this long, nothing may fire before the first fault. */
const quietMs = 60_000;
const folder = mkdtempSync(join(tmpdir(), "plosive-alerts-"));
const rules = join(folder, "alerts.yaml");
const alerts = writeShorterRules(rules);

interface Row {
  readonly alert: string;
  readonly fault: string;
  readonly fired: string;
  readonly remedy?: string | undefined;
  readonly ended: string;
}
const rows: Row[] = [];
let prometheus: Prometheus;
let scene: Scene;
/** Seconds since 1970. */
let start: number;

beforeAll(async () => {
  await addProfiles();
  await kubectl("scale", "deployment/plosive-operator", `--replicas=${operators}`);
  await available("deployment/plosive-operator");
  const account = await sharedAccount();
  const data = await sharedTrainable(account);
  scene = { account, data, erasable: await addErasable() };
  prometheus = await startMonitor([rules]);
  start = Math.floor(Date.now() / 1000);
  // Until its first scrapes, nothing seems to run.
  await until("the first scrapes", patienceMs, async () => {
    const found = await prometheus.query("up == 1");
    // The operators, the run endpoint and the API.
    return found.length === operators + 2 && (await firing()).length === 0 ? true : undefined;
  });
});
afterAll(async () => {
  await prometheus?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** An account with one recording. */
async function addErasable(): Promise<string> {
  const tenant = await admin("tenants", "create", erasableName);
  const apiKey = await admin("keys", "create", "--tenant", tenant);
  const user = makeUser({ baseUrl: await findAddress(), apiKey });
  const { id } = await user.createDataset("alerts", []);
  await uploadTo(user, id, (await composeVoices(takes)).test.paths.slice(0, 1));
  expect((await waitForEmbeddings(user, id, () => {})).failed).toEqual([]);
  return tenant;
}

/** Alerts that fire, or will fire if their expression stays true. */
async function active() {
  const { alerts } = await prometheus.get<{
    alerts: { state: "pending" | "firing"; labels: { alertname: string } }[];
  }>("/alerts");
  return alerts;
}

async function firing(): Promise<string[]> {
  const fire = (await active()).filter(({ state }) => state === "firing");
  return [...new Set(fire.map(({ labels }) => labels.alertname))].sort();
}

const fires = (alert: string) =>
  until(`${alert} to fire`, patienceMs, async () => ((await firing()).includes(alert) ? true : undefined));
const ends = (alert: string) =>
  until(`${alert} to end`, patienceMs, async () => ((await firing()).includes(alert) ? undefined : true));

const stopwatch = () => {
  const start = Date.now();
  return () => `${Math.round((Date.now() - start) / 1000)} s`;
};

/** Causes the fault, waits for its alerts, carries out the remedy, and waits for their ends. */
async function provoke({ fault, alerts, afterwards = [], remedy, cause }: Fault): Promise<void> {
  const sinceFault = stopwatch();
  const repair = await cause(scene);
  const fired = new Map<string, string>();
  await Promise.all(
    alerts.map(async (alert) => {
      await fires(alert);
      fired.set(alert, sinceFault());
      console.info(`alerts: ${alert} fires after ${sinceFault()}: ${fault}`);
    }),
  );
  // The fault has not ended by itself. An alert about a rate has gaps in the shorter windows, while reconciles back off.
  const still = await firing();
  if (remedy !== undefined) expect(alerts.some((alert) => still.includes(alert))).toBe(true);
  const sinceRemedy = stopwatch();
  await repair();
  await Promise.all([
    ...alerts.map(async (alert) => {
      await ends(alert);
      rows.push({ alert, fault, fired: fired.get(alert) ?? "", remedy, ended: sinceRemedy() });
      console.info(`alerts: ${alert} has ended after ${sinceRemedy()}: ${remedy ?? fault}`);
    }),
    ...afterwards.map(async (alert) => {
      await fires(alert);
      const first = `${sinceRemedy()} after the remedy`;
      console.info(`alerts: ${alert} fires ${first}: ${fault}`);
      await ends(alert);
      rows.push({
        alert,
        fault,
        fired: first,
        ended: sinceRemedy(),
      });
    }),
  ]);
}

/** Fails at the first alert that fires and is not among these. */
async function nothingElse(expected: readonly string[], isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    expect((await firing()).filter((alert) => !expected.includes(alert))).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

test("nothing fires before the first fault", async () => {
  const end = Date.now() + quietMs;
  await nothingElse([], () => Date.now() > end);
});

test.each(groups.map((group) => [group.map(({ fault }) => fault).join("; "), group] as const))(
  "%s",
  async (_, group) => {
    const expected = group.flatMap(({ alerts, afterwards = [], also = [] }) => [
      ...alerts,
      ...afterwards,
      ...also,
    ]);
    let isOver = false;
    const watch = nothingElse(expected, () => isOver);
    await Promise.race([
      watch,
      Promise.all(group.map(provoke)).finally(() => {
        isOver = true;
      }),
    ]);
    await watch;
    // Also those that did not have to fire, and those that would fire only during the next faults.
    await until("all alerts to end", patienceMs, async () =>
      (await active()).length === 0 ? true : undefined,
    );
  },
);

test("each alert of the chart fired and ended", () => {
  const order = (one: Row) => alerts.indexOf(one.alert);
  console.info(
    [
      `Durations divided by ${factor}; thresholds of five minutes or more too, but at least 90 s (informers 150 s):`,
      "| Alert | Fault | Fired after | Remedy | Ended after |",
      "|---|---|---|---|---|",
      ...rows
        .sort((a, b) => order(a) - order(b))
        .map(
          ({ alert, fault, fired, remedy, ended }) =>
            `| ${alert} | ${fault} | ${fired} | ${remedy ?? "none"} | ${ended} |`,
        ),
    ].join("\n"),
  );
  expect([...new Set(rows.map(({ alert }) => alert))]).toEqual(alerts);
});

test("the dashboards show what has happened", async () => {
  const place = { namespace, operator: "plosive-operator", api: "plosive-api" };
  const span = { start, end: Math.floor(Date.now() / 1000) };
  // To be copied into docs/pictures.
  const moved = await drawDashboards(prometheus, place, span, join(repoDir, ".plosive/pictures"));
  expect(moved).toEqual(
    expect.arrayContaining(["Requests by status", "Open jobs", "Failed reconciles", "Workqueue"]),
  );
});
