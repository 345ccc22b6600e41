// Faults of an installation as they happen, the alerts that must follow, and the remedies of docs/alerts.md. Called by alerts.test.ts.
import { execFile } from "node:child_process";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { admin } from "../e2e/accounts.ts";
import { create, kubectl, kubectlJson, until } from "../e2e/cluster.ts";
import { cancel, runningPod } from "../e2e/jobs.ts";
import { podProcesses } from "../e2e/machine.ts";
import { offer } from "../e2e/node.ts";
import { gpu } from "../e2e/profiles.ts";
import { databaseHangs } from "./database-hangs.ts";
import {
  ask,
  available,
  draftOf,
  type Fault,
  orderTraining,
  patch,
  psql,
  psqlInBackground,
  startJob,
  takeAway,
} from "./scene.ts";

const run = promisify(execFile);

/** The name of the account that a fault erases. */
export const erasableName = "to be erased";

/** Replicas of the operator, so that there is a standby. */
export const operators = 2;

const pending: Fault = {
  fault: "A job asks for a GPU, and no node has one",
  alerts: ["PlosiveJobsPendingLong"],
  remedy: "A node with a GPU joins",
  async cause(scene) {
    const job = await startJob(scene, "no-gpu");
    return async () => {
      await offer(gpu, 1);
      await runningPod(job);
      await cancel(job);
      await offer(gpu, 0);
    };
  },
};

const deletion: Fault = {
  fault: "A deleted job has the finalizer of a controller that no longer exists",
  alerts: ["PlosiveDeletionStuck"],
  remedy: "Remove the finalizer",
  async cause(scene) {
    const { name } = await startJob(scene, "silent", { suspend: true });
    const hold = (finalizers: string[]) =>
      kubectl(
        "patch",
        "trainingjob",
        name,
        "--type=merge",
        `--patch=${JSON.stringify({ metadata: { finalizers } })}`,
      );
    await hold(["example.com/hold"]);
    await kubectl("delete", "trainingjob", name, "--wait=false");
    return () => hold([]);
  },
};

const lockedRows: Fault = {
  fault: "A forgotten transaction in psql holds the labels of a deleted set",
  alerts: ["PlosiveBackgroundWorkStuck"],
  remedy: "End the sessions with old transactions (`pg_terminate_backend`)",
  async cause(scene) {
    // So many that the service deletes them after the response.
    const set = await draftOf(scene, 11);
    await psqlInBackground(
      `begin; select id from annotations where annotation_set_id = '${basename(set)}' for update; select pg_sleep(3600)`,
    );
    await until("the lock", 30_000, async () =>
      (
        await psql(
          "select pid from pg_stat_activity where query like '%pg_sleep(3600)' and wait_event = 'PgSleep'",
        )
      ).trim() === ""
        ? undefined
        : true,
    );
    await ask(scene, "DELETE", set);
    return () =>
      psql(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and xact_start < now() - interval '1 minute'",
      );
  },
};

const renamed: Fault = {
  fault: "The API has another name of the installation than the operator",
  alerts: ["PlosiveJobsStranded"],
  remedy: "`helm upgrade`, and `plosive-admin installations move`",
  async cause(scene) {
    const api = "app.kubernetes.io/component=api";
    const name = "PLOSIVE_INSTALLATION";
    const [before, other] = ["plosive/plosive", "elsewhere/plosive"];
    const call = async (installation: string) => {
      const old = (await kubectl("get", "pods", "-l", api, "-o", "name")).trim().split("\n");
      await kubectl("set", "env", "deployment/plosive-api", `${name}=${installation}`);
      await available("deployment/plosive-api");
      // Until then it answers on the connections that it has.
      await kubectl("wait", ...old, "--for=delete", "--timeout=90s");
    };
    await call(other);
    const job = await orderTraining(scene);
    return async () => {
      await call(before);
      await admin("installations", "move", other, before);
      await ask(scene, "POST", `${job}/cancel`);
    };
  },
};

const silentPods: Fault = {
  fault: "The worker of a job hangs",
  alerts: ["PlosiveJobsStalled"],
  also: ["PlosiveInfraFailures"],
  async cause(scene) {
    await startJob(scene, "silent", { progressDeadlineSeconds: 8 });
    return async () => {};
  },
};

const noImage: Fault = {
  fault: "Four jobs name an image that no registry has",
  alerts: ["PlosiveInfraFailures"],
  async cause(scene) {
    await Promise.all(
      Array.from({ length: 4 }, () => startJob(scene, "no-image", { pendingDeadlineSeconds: 10 })),
    );
    return async () => {};
  },
};

const otherVersion: Fault = {
  fault: "A worker image of another version sends reports that the run endpoint does not know",
  alerts: ["PlosiveProgressRejected"],
  remedy: "End its jobs",
  async cause(scene) {
    const job = await startJob(scene, "reports-wrongly");
    await runningPod(job);
    return () => cancel(job);
  },
};

/** The pod of the operator that does not lead. */
async function standby(): Promise<{ name: string; uid: string }> {
  const { spec } = await kubectlJson<{ spec: { holderIdentity: string } }>(
    "get",
    "lease",
    "plosive-operator",
  );
  const { items } = await kubectlJson<{ items: { metadata: { name: string; uid: string } }[] }>(
    ...["get", "pods", "-l", "app.kubernetes.io/component=operator"],
  );
  const found = items.find(({ metadata }) => !spec.holderIdentity.startsWith(metadata.name));
  if (found === undefined) throw new Error(`there is no standby of ${spec.holderIdentity}`);
  return found.metadata;
}

const deaf: Fault = {
  fault: "The network drops the packets of the standby operator to the API server",
  alerts: ["PlosiveInformerStale"],
  remedy: "Restart that replica",
  async cause() {
    const { name, uid } = await standby();
    const [pid] = podProcesses(uid, "controllers/main.ts");
    // In the pod's network, which ends with it. Prometheus still reaches the pod: its answers go to another port.
    for (const port of ["443", "6443"])
      await run("nsenter", [
        ...["-t", String(pid), "-n", "iptables"],
        ...["-A", "OUTPUT", "-p", "tcp", "--dport", port, "-j", "DROP"],
      ]);
    return async () => {
      await kubectl("delete", "pod", name, "--wait=false");
      await available("deployment/plosive-operator");
    };
  },
};

const noStore: Fault = {
  fault: "The object store is down while an account is erased",
  alerts: ["PlosivePurgeStuck"],
  // A pass of the purge waits for the store longer than the shortened limit of a sweep.
  also: ["PlosiveReconcileErrors", "PlosiveSweepStale"],
  remedy: "Start the object store, and let the purge queue try again at once",
  async cause({ erasable }) {
    const back = await takeAway("statefulset/plosive-object-store");
    await admin("tenants", "erase", erasable, "--name", erasableName);
    return async () => {
      await back();
      await psql("update leftovers set try_at = now() where attempts > 0");
    };
  },
};

const quota: Fault = {
  fault: "A ResourceQuota of the namespace admits no further training job",
  alerts: ["PlosiveOutboxLag"],
  remedy: "Raise the quota",
  async cause(scene) {
    const metadata = { name: "jobs" };
    const count = { "count/trainingjobs.plosive.dev": "0" };
    await create({ apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard: count } });
    const job = await orderTraining(scene);
    return async () => {
      await kubectl("delete", "resourcequota", "jobs");
      await ask(scene, "POST", `${job}/cancel`);
    };
  },
};

const noRights: Fault = {
  fault: "The operator's Role lacks the rights to the status of jobs",
  alerts: ["PlosiveReconcileErrors", "PlosiveStatusOverdue"],
  afterwards: ["PlosiveStatusLag"],
  // The resource shows the state from before, and its end is late.
  also: ["PlosiveJobsPendingLong", "PlosiveStatusBudget"],
  remedy: "Give the Role its rights back",
  async cause(scene) {
    // A single job is reconciled only every half minute in the end, and the window of the trial's rules is shorter.
    const jobs = await Promise.all(
      Array.from({ length: 12 }, () => startJob(scene, "ends-late", { retries: { perShard: 0 } })),
    );
    await Promise.all(jobs.map((job) => runningPod(job)));
    const path = "/rules";
    const role = "role/plosive-operator";
    const { rules } = await kubectlJson<{ rules: { resources: string[] }[] }>("get", role);
    const set = (value: object[]) => patch(role, { op: "replace", path, value });
    const isTaken = (rule: (typeof rules)[number]) => rule.resources.includes("trainingjobs/status");
    const fewer = rules.filter((rule) => !isTaken(rule));
    await set(fewer);
    return async () => {
      // PlosiveStatusLag wants late ends for longer than its window of 30 s: not all in one moment.
      for (const [n] of jobs.entries()) {
        const resourceNames = jobs.slice(0, n + 1).map(({ name }) => name);
        await set([...fewer, ...rules.filter(isTaken).map((rule) => ({ ...rule, resourceNames }))]);
        await setTimeout(4_000);
      }
      await set(rules);
    };
  },
};

const noOperator: Fault = {
  fault: "No operator runs",
  alerts: ["PlosiveNoLeader", "PlosiveEventLag"],
  remedy: "Start it",
  async cause(scene) {
    // The event of a publication is due at once, and the operator delivers it.
    const { id: webhook } = await ask(scene, "POST", "webhooks", { url: "https://example.com/hook" });
    const back = await takeAway("deployment/plosive-operator", operators);
    await ask(scene, "POST", `${await draftOf(scene)}/publish`, {});
    return async () => {
      await back();
      await ask(scene, "DELETE", `webhooks/${webhook}`);
    };
  },
};

const away = (part: string, alert: string, fault: string): Fault => ({
  fault,
  alerts: [alert],
  remedy: "Start it",
  cause: () => takeAway(`deployment/${part}`),
});

/** Groups in their order. The faults of a group go on at the same time, because none of them changes what another one needs. */
export const groups: readonly (readonly Fault[])[] = [
  [pending, deletion, lockedRows, renamed, silentPods, noImage, otherVersion, deaf],
  [noStore],
  [quota],
  [noRights],
  [noOperator, away("plosive-runs", "PlosiveRunEndpointDown", "No run endpoint runs")],
  [away("plosive-api", "PlosiveApiDown", "No API runs")],
  [databaseHangs],
];
