// The service is installed with a company's database, pooler, object store and authority, goes back to an earlier moment, is
// installed anew, and is restored on an empty cluster, each while jobs run. Prints what was in flight, and what became of it.
// docs/install.md and docs/backup.md are the guides: their commands run as they stand there.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { kubectl as at } from "../../tools/chart.ts";
import type { ClusterPlace } from "../../tools/cluster/place.ts";
import { followTraining } from "../../tools/demo/training.ts";
import type { User } from "../../tools/demo/user.ts";
import { composeVoices, type Voices } from "../../tools/demo/voices.ts";
import { buildKueue, startKueue } from "../../tools/kueue.ts";
import type { S3Server } from "../../tools/s3.ts";
import { firstUser } from "../e2e/accounts.ts";
import { create, kubectl, kubectlJson, until } from "../e2e/cluster.ts";
import { offer } from "../e2e/node.ts";
import { gpu } from "../e2e/profiles.ts";
import { step } from "../e2e/steps.ts";
import { takes } from "../e2e/takes.ts";
import { type Company, makeCompany } from "./company.ts";
import {
  config,
  type Data,
  expectAllDone,
  type Flight,
  type Held,
  heldTraining,
  land,
  prepare,
  resourceOf,
  say,
  statesOf,
  takeOff,
} from "./flight.ts";
import { backupEnv, follow, type Reader } from "./guide.ts";
import { contentsOf, type Database, digestsOf, startStore } from "./servers.ts";
import * as service from "./service.ts";
import { addGpuPool, createRoles, installService, prepareCluster, removeGpuPool } from "./walk.ts";

const folder = mkdtempSync(join(tmpdir(), "plosive-drill-"));
chmodSync(folder, 0o755);

let voices: Voices;
let place: ClusterPlace;
let company: Company;
let database: Database;
let store: S3Server;
let user: User;

beforeAll(async () => {
  buildKueue();
  [voices, place] = await Promise.all([composeVoices(takes), service.startCluster()]);
  company = makeCompany(folder, place.addresses.hostAddress);
  database = await company.startDatabase(join(folder, "database"));
  store = await company.startStore(join(folder, "store"));
  await createRoles(database);
  await database.baseBackup();
  await prepareCluster(reader(), place, { company, database, store });
  await installService(reader(), store);
  user = await firstUser();
});
afterAll(async () => {
  await service.stopCluster();
  await Promise.all([database?.stop(), store?.stop(), copy?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Of Kueue, for a Kubernetes Job. */
interface Workload {
  readonly metadata: { readonly ownerReferences?: readonly { readonly name: string }[] };
  readonly status?: {
    readonly admission?: {
      readonly podSetAssignments: readonly { readonly resourceUsage: Readonly<Record<string, string>> }[];
    };
  };
}

/** What clients had before the backup and must find after each restore. */
let data: Data;
let flight: Flight;
/** Created after the backup; it goes on while the database goes back. */
let late: Held;
/** The bucket of the backup. */
let copy: S3Server;
let backup: { time: string; rows: Record<string, string>; objects: Record<string, string> };
/** As a program on this machine addresses the store. */
const reachable = (server: S3Server): S3Server => ({
  ...server,
  endpoint: company.reachable(server.endpoint),
});
const reader = (env?: NodeJS.ProcessEnv): Reader => ({
  folder,
  kubeconfig: place.kubeconfig,
  ...(env && { env }),
});
/** Runs commands of docs/backup.md on what is there now. */
const guide = (start: string, words?: Record<string, string>) => {
  const bucket = reachable(store);
  const env = backupEnv({ ownerUrl: database.urlOf("owner"), bucket, copy, ca: company.tls.ca });
  return follow(reader(env), "docs/backup.md", start, words);
};

const prepared = step("a model is trained and has found something", [], async () => {
  data = await prepare(user, voices);
});

const pooled = step("Kueue admits a training, which gets a GPU of a pool", [prepared], async () => {
  const { kubeconfig, addresses } = place;
  const kueue = await startKueue({ kubeconfig, dir: join(folder, "kueue"), address: addresses.hostAddress });
  // What NVIDIA's GPU operator does: the node offers a GPU, and there is a RuntimeClass for it.
  await offer(gpu, 1);
  await create({
    ...{ apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", handler: "runc" },
    metadata: { name: "nvidia" },
  });
  await addGpuPool(reader(), store);
  const { id } = await user.createTrainingJob(data.datasetId, data.setId, config(1));
  const admission = await until("Kueue to admit the training", 180_000, async () => {
    const { items } = await kubectlJson<{ items: Workload[] }>("get", "workloads.kueue.x-k8s.io");
    const ofTraining = ({ metadata }: Workload) => metadata.ownerReferences?.[0]?.name.startsWith(`tj-${id}`);
    return items.find(ofTraining)?.status?.admission;
  });
  expect(admission.podSetAssignments[0]?.resourceUsage[gpu]).toBe("1");
  expect((await followTraining(user, id, () => {})).job).toMatchObject({ status: "completed" });
  const seconds = (await resourceOf(id)).status?.usage?.gpuSeconds;
  expect(seconds).toBeGreaterThan(0);
  say(`Kueue admitted a training, which had a GPU for ${seconds} s`);
  await removeGpuPool(reader(), store);
  await kueue.stop();
  await offer(gpu, 0);
});

const backedUp = step(
  "the database, the bucket and the secrets are copied while jobs run",
  [pooled],
  async () => {
    flight = await takeOff(user, data, voices);
    copy = await startStore(join(folder, "copy"), "127.0.0.1");
    await database.atOneMoment(async ({ time, snapshot, rows }) => {
      await guide("now=", { pg_dump: `pg_dump --snapshot ${snapshot}` });
      const during = await statesOf(user, flight);
      expect(during.training).toMatch(/^running/);
      for (const state of [during.inference, during.embedding]) expect(state).not.toBe("completed");
      backup = { time, rows, objects: await digestsOf(copy) };
    });
    flight.training.resume();
    late = await heldTraining(user, data);
    await land(user, flight);
  },
);

const recovered = step("the database goes back to an earlier moment", [backedUp], async () => {
  await guide("kubectl -n plosive scale deployment");
  await database.recover(backup.time);
  await guide("psql ");
  service.startService(place);
  await expectAllDone(user, flight, data);
  // What was created after that moment is gone. Its resource says so.
  const { client } = user;
  const params = { path: { training_job_id: late.id } };
  expect((await client.GET("/api/v1/training-jobs/{training_job_id}", { params })).response.status).toBe(404);
  const reason = await until("the resource to report its missing row", 180_000, async () => {
    const { status } = await resourceOf(late.id);
    return status?.conditions?.find(({ type, reason }) => type === "Accepted" && reason === "RowMissing")
      ?.reason;
  });
  say(`the training that was created after the backup: ${reason}`);
  late.resume();
  await kubectl("delete", "trainingjob", `tj-${late.id}`);
});

const reinstalled = step(
  "helm uninstalls and installs the service while a training runs",
  [recovered],
  async () => {
    const training = await heldTraining(user, data);
    const rows = (await contentsOf(database.query)).annotations;
    await service.uninstallService(place);
    say("uninstalled while a training runs");
    await installService(reader(), store);
    training.resume();
    const { job } = await followTraining(user, training.id, () => {});
    say(`the training is ${job.status}`);
    expect(job).toMatchObject({ status: "completed" });
    expect(await user.listModels(training.id)).toHaveLength(1);
    expect((await contentsOf(database.query)).annotations).toBe(rows);
  },
);

step("an empty cluster, an empty database and an empty bucket get the copies", [reinstalled], async () => {
  await service.stopCluster();
  await Promise.all([database.stop(), store.stop()]);
  place = await service.startCluster();
  // The new cluster has the old one's addresses.
  expect(place.addresses.hostAddress).toBe(company.address);
  store = await company.startStore(join(folder, "new-store"));
  database = await company.startDatabase(join(folder, "new-database"));
  await createRoles(database);
  await guide("pg_restore ", { TIME: timeOfBackup() });
  const restored = await contentsOf(database.query);
  expect(restored).toEqual(backup.rows);
  expect(await digestsOf(reachable(store))).toEqual(backup.objects);
  say(
    `${Object.keys(restored).length} tables and ${Object.keys(backup.objects).length} objects are the same`,
  );
  await guide("psql ");

  await prepareCluster(reader(), place, { company, database, store });
  const secrets = readFileSync(join(folder, `secrets-${timeOfBackup()}.json`), "utf8");
  at(service.targetOf(place), ["create", "-f", "-"], withoutServerFields(secrets));
  await installService(reader(), store);
  // With the key from before.
  user = await firstUser();
  const pod = await until("a pod of the training", 300_000, async () => {
    const { items } = await kubectlJson<{ items: { metadata: { name: string } }[] }>(
      ...["get", "pods", "-l", `plosive.dev/job=tj-${flight.training.id}`],
    );
    return items[0]?.metadata.name;
  });
  const resumed = await until(
    "the training to go on",
    300_000,
    async () => /resuming at step \d+/.exec(await kubectl("logs", pod).catch(() => ""))?.[0],
  );
  say(`the training is ${resumed}`);
  await expectAllDone(user, flight, data);
});

/** The time in the names of the backup's files. */
function timeOfBackup(): string {
  const [time] = readdirSync(folder).flatMap((name) => /^plosive-(\w+)\.dump$/.exec(name)?.[1] ?? []);
  if (time === undefined) throw new Error("the backup left no dump");
  return time;
}

/** Secrets as kubectl prints them, ready for another cluster. */
function withoutServerFields(list: string): string {
  const { items } = JSON.parse(list) as { items: { metadata: { name: string } }[] };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "List",
    items: items.map((item) => ({ ...item, metadata: { name: item.metadata.name } })),
  });
}
