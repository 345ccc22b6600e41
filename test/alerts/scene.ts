// What the faults of the trial work with: an account with data, requests, the database, the parts of the service. Called by faults.ts
// and database-hangs.ts.
import { existsSync } from "node:fs";
import { type Account, findAddress } from "../e2e/accounts.ts";
import { kubectl, kubectlJson } from "../e2e/cluster.ts";
import { type Made, train } from "../e2e/jobs.ts";
import { podProcesses } from "../e2e/machine.ts";
import { smallBatches, type Trainable, types } from "../e2e/takes.ts";

export interface Scene {
  readonly account: Account;
  readonly data: Trainable;
  /** The id of an account with a recording that a fault may erase. */
  readonly erasable: string;
}

export interface Fault {
  /** What is wrong. */
  readonly fault: string;
  /** Alerts that must fire while it lasts, and end after the remedy. */
  readonly alerts: readonly string[];
  /** Alerts that must fire after the remedy, because they judge what has ended, and end by themselves. */
  readonly afterwards?: readonly string[];
  /** Further alerts that the fault may cause. */
  readonly also?: readonly string[];
  /** What ends the alerts. Without it they end by themselves, because they judge what has ended. */
  readonly remedy?: string;
  /** Resolves with what carries out the remedy. */
  cause(scene: Scene): Promise<() => Promise<unknown>>;
}

let made = 0;
/** Makes the names unique: resources of an earlier run on the same cluster still exist. */
export const run = Date.now().toString(36);
export const startJob = ({ account, data }: Scene, profile: string, spec: object = {}): Promise<Made> =>
  train(account, `${profile}-${run}-${++made}`, data, { profile, ...spec });

export async function request({ account }: Scene, method: string, path: string, body?: object) {
  const answer = await fetch(`${await findAddress()}/api/v1/${path}`, {
    method,
    headers: { "X-API-Key": account.apiKey, "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
}

export async function ask(scene: Scene, method: string, path: string, body?: object) {
  const answer = await request(scene, method, path, body);
  if (answer.status < 300) return answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

/** The path of a new draft with so many labels, in thousands. */
export async function draftOf(scene: Scene, thousands = 1): Promise<string> {
  const { datasetId, files } = scene.data;
  const sets = `datasets/${datasetId}/annotation-sets`;
  const { id } = await ask(scene, "POST", sets, {});
  for (let n = 0; n < thousands; n++) {
    const annotations = Array.from({ length: 1000 }, (_, i) => ({
      ...{ audio_file_id: files[0]!.id, artifact_type: "click" },
      ...{ start_ms: i, end_ms: i + 100 },
    }));
    await ask(scene, "POST", `${sets}/${id}/annotations/bulk`, { annotations });
  }
  return `${sets}/${id}`;
}

/** Starts a training through the API. Resolves with its path. */
export async function orderTraining({ account, data }: Scene): Promise<string> {
  const { datasetId, annotationSetId } = data;
  const config = { artifact_types: types, epochs: 1, ...smallBatches };
  return `training-jobs/${(await account.user.createTrainingJob(datasetId, annotationSetId, config)).id}`;
}

export const available = (workload: string) => kubectl("rollout", "status", workload, "--timeout=180s");

/** Ends all pods of a workload. Resolves with what starts them again. */
export async function takeAway(workload: string, replicas = 1): Promise<() => Promise<unknown>> {
  await kubectl("scale", workload, "--replicas=0");
  return async () => {
    await kubectl("scale", workload, `--replicas=${replicas}`);
    await available(workload);
  };
}

const pod = "plosive-database-0";
const login =
  'PGPASSWORD=$(cat /etc/plosive/database/password) psql --host=127.0.0.1 --username=plosive --dbname=plosive --no-psqlrc --quiet --tuples-only --command="$0"';

/** Runs a statement as the owner of the database. */
export const psql = (statement: string) => kubectl("exec", pod, "--", "sh", "-c", login, statement);

/** The same, and does not wait for its end. */
export const psqlInBackground = (statement: string) =>
  kubectl("exec", pod, "--", "sh", "-c", `(${login}) >/dev/null 2>&1 &`, statement);

/** Stops the processes of a pod. Resolves with what lets them continue. */
export async function freeze(name: string, program: string): Promise<() => void> {
  const { metadata } = await kubectlJson<{ metadata: { uid: string } }>("get", "pod", name);
  const stopped = podProcesses(metadata.uid, program);
  if (stopped.length === 0) throw new Error(`no process ${program} runs in ${name}`);
  for (const pid of stopped) process.kill(pid, "SIGSTOP");
  return () => {
    for (const pid of stopped.filter((one) => existsSync(`/proc/${one}`))) process.kill(pid, "SIGCONT");
  };
}

export const patch = (object: string, ...changes: object[]) =>
  kubectl("patch", object, "--type=json", `--patch=${JSON.stringify(changes)}`);
