// An upgrade from the release before, the way back, and the upgrade again, each while jobs run. Prints what was in flight, and what
// became of it.
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "vitest";
import { tool } from "../../tools/cache.ts";
import { kubectl as at, install } from "../../tools/chart.ts";
import type { ClusterPlace } from "../../tools/cluster/place.ts";
import type { User } from "../../tools/demo/user.ts";
import { composeVoices, type Voices } from "../../tools/demo/voices.ts";
import { deliver } from "../../tools/images/deliver.ts";
import { chartImages, referenceOf } from "../../tools/images/images.ts";
import type { S3Server } from "../../tools/s3.ts";
import { firstUser } from "../e2e/accounts.ts";
import { step } from "../e2e/steps.ts";
import { takes } from "../e2e/takes.ts";
import { type Data, expectAllDone, podOf, prepare, say, statesOf, takeOff } from "./flight.ts";
import { checkOutPrevious, type Previous, previousVersion } from "./previous.ts";
import { bucket, contentsOf, type Database, startDatabase, startStore } from "./servers.ts";
import * as service from "./service.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "plosive-upgrade-drill-"));
chmodSync(folder, 0o755);

let voices: Voices;
let place: ClusterPlace;
let previous: Previous;
let database: Database;
let store: S3Server;
let user: User;
let data: Data;

beforeAll(async () => {
  previous = await checkOutPrevious(join(folder, "previous"));
  [voices, place] = await Promise.all([composeVoices(takes), service.startCluster()]);
  const { postgres: _, s3: _s3, ...used } = previous.images;
  await deliver(place, Object.values(used), () => {});
  const { hostAddress } = place.addresses;
  database = await startDatabase(join(folder, "database"), hostAddress);
  store = await startStore(join(folder, "store"), hostAddress);
  service.createNamespace(place);
  service.createSecrets(place, database, store);
  await install({
    ...service.targetOf(place),
    chart: previous.chart,
    images: previous.images,
    valueFiles: [join(import.meta.dirname, "values.yaml")],
    values: { "objectStore.endpoint": store.endpoint, "objectStore.bucket": bucket },
  });
  user = await firstUser();
});
afterAll(async () => {
  await service.stopCluster();
  await Promise.all([database?.stop(), store?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** The images of the service's pods, by component. */
const running = (): Record<string, string> =>
  Object.fromEntries(
    at(service.targetOf(place), [
      ...["get", "deployments", "-o"],
      'jsonpath={range .items[*]}{.metadata.name}={.spec.template.spec.containers[0].image}{"\\n"}{end}',
    ])
      .trim()
      .split("\n")
      .map((line) => line.split("=") as [string, string]),
  );

const today = referenceOf(chartImages.server);
const ofToday = { "plosive-api": today, "plosive-operator": today, "plosive-runs": today };

const labels = async () => (await contentsOf(database.query)).annotations;

/** Carries `change` out while all kinds of jobs run, and expects that each ends once. */
async function whileJobsRun(change: () => Promise<unknown>): Promise<void> {
  const before = await labels();
  const flight = await takeOff(user, data, voices);
  const during = await statesOf(user, flight);
  expect(during.training).toMatch(/^running/);
  for (const state of [during.inference, during.embedding]) expect(state).not.toBe("completed");
  const pod = await podOf(`tj-${flight.training.id}`);
  await change();
  // The worker goes on with its work; nobody replaces its pod.
  expect((await podOf(`tj-${flight.training.id}`)).metadata.uid).toBe(pod.metadata.uid);
  flight.training.resume();
  await expectAllDone(user, flight, data);
  expect(await labels()).toBe(before);
}

const prepared = step(`release ${previousVersion} has a model`, [], async () => {
  data = await prepare(user, voices);
});

const upgraded = step(
  `helm upgrades ${previousVersion} to this release while jobs run`,
  [prepared],
  async () => {
    await whileJobsRun(() => service.installService(place, store));
    expect(running()).toEqual(ofToday);
    say("upgraded");
  },
);

const rolledBack = step("helm rolls back while jobs run", [upgraded], async () => {
  await whileJobsRun(() =>
    run(tool("helm"), [
      ...["rollback", "plosive", "1", "--kubeconfig", place.kubeconfig, "--namespace", "plosive"],
      ...["--wait", "--wait-for-jobs", "--timeout", "10m"],
    ]),
  );
  const { server } = previous.images;
  expect(running()).toEqual({ "plosive-api": server, "plosive-operator": server });
  say("rolled back");
});

step("helm upgrades again while jobs run", [rolledBack], async () => {
  await whileJobsRun(() => service.installService(place, store));
  expect(running()).toEqual(ofToday);
  say("upgraded again");
});
