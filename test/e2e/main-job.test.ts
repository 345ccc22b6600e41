// The main job on a full cluster with kubelet and containers, with killed pods, restarts of operator and API, a frozen
// API server, and files that cannot be decoded. Steps build on each other. The audio is smaller than the demo's; only
// the demo judges the quality of the detector.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pods } from "../../src/kube/kinds.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { trainingConfig } from "../../src/schemas/training-config.ts";
import { followTraining } from "../../tools/demo/training.ts";
import { type Uploaded, uploadAll } from "../../tools/demo/upload.ts";
import type { User } from "../../tools/demo/user.ts";
import { composeVoices, type Voices } from "../../tools/demo/voices.ts";
import { waitForEmbeddings, waitForInference } from "../../tools/demo/waiting.ts";
import { admin, findAddress, firstUser } from "./accounts.ts";
import { clusterPlace, kubectl, kubectlJson, kubectlRefusal, listOf, namespace, until } from "./cluster.ts";
import { holdAfter, type Pod } from "./jobs.ts";
import { findProcess } from "./machine.ts";
import { type Step, step } from "./steps.ts";
import { corruptFile, labelTakes, smallBatches, takes, types, uploadTo } from "./takes.ts";

interface Named {
  metadata: { name: string; uid: string };
}
interface List<T> {
  items: T[];
}

let voices: Voices;
let user: User;
let baseUrl: string;
let datasetId: string;
let uploads: Uploaded[];
let setId: string;
let trainingId: string;
let modelId: string;
let trained: Step;
let inferred: Step;
const folder = mkdtempSync(join(tmpdir(), "plosive-e2e-"));

beforeAll(async () => {
  voices = await composeVoices(takes);
  baseUrl = await findAddress();
  user = await firstUser();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The worker's message about corruptFile's bytes; the build of the decoder decides where it notices the damage. */
const damaged =
  /^(Decoding stopped after \d+\.\d s of |The flac file cannot be opened: its data are damaged)/;

/** Kubernetes Jobs of a custom resource, over all its attempts. */
const jobsOf = async (resource: string) =>
  (await kubectlJson<List<Named>>("get", "jobs")).items.filter((job) =>
    job.metadata.name.startsWith(`${resource}-`),
  );

const podOf = (resource: string, phase: string) =>
  until(`a ${phase} pod of ${resource}`, 180_000, async () =>
    (await listOf<Pod>(pods)).find(
      (pod) => pod.metadata.name.startsWith(`${resource}-`) && pod.status.phase === phase,
    ),
  );

describe("an account that an administrator creates", () => {
  const datasetsAs = async (key: string) => {
    const answer = await fetch(`${baseUrl}/api/v1/datasets`, { headers: { "X-API-Key": key } });
    return { status: answer.status, body: (await answer.json()) as { total?: number } };
  };

  test("is opened by its own key, sees no other tenant's data, and is closed by revoking the key, with kubectl exec", async () => {
    await user.createDataset("not theirs", types);
    const tenant = await admin("tenants", "create", "north studio");
    const { id, key } = JSON.parse(await admin("keys", "create", "--tenant", tenant, "--json")) as {
      id: string;
      key: string;
    };
    expect(await datasetsAs(key)).toMatchObject({ status: 200, body: { total: 0 } });
    await admin("keys", "revoke", id);
    expect((await datasetsAs(key)).status).toBe(401);
  });

  test("API and operator log in as separate users without the rights of the database's owner", async () => {
    // All connections over the network but this one. The processes that set up the database as its owner have ended.
    const users = await queryDatabase(`
      select usename, rolsuper or rolbypassrls or rolcreaterole
          or pg_has_role(usename, (select relowner from pg_class where oid = 'tenants'::regclass), 'member')
        from pg_stat_activity join pg_roles on rolname = usename
        where client_addr is not null and pid <> pg_backend_pid()
        group by 1, 2 order by 1`);
    expect(users).toEqual([
      ["plosive_api_login", "f"],
      ["plosive_operator_login", "f"],
    ]);
  });
});

describe("the main job", () => {
  const embeds = "embeds uploads; a file that cannot be decoded fails alone, with its reason";
  const embedded = step(embeds, [], async () => {
    datasetId = (await user.createDataset("e2e", types)).id;
    const other = await user.createDataset("e2e broken", types);
    // In a dataset of its own, because a failed file blocks training. The operator may still gather it into the same
    // job.
    const [, files] = await Promise.all([
      uploadTo(user, other.id, [corruptFile(voices, folder, "broken.flac")]),
      uploadTo(user, datasetId, voices.train.paths),
    ]);
    uploads = files;
    const [broken, whole] = await Promise.all([
      waitForEmbeddings(user, other.id, () => {}),
      waitForEmbeddings(user, datasetId, () => {}),
    ]);
    expect(whole.failed).toEqual([]);
    expect(whole.completed).toHaveLength(voices.train.paths.length);
    expect(broken.completed).toEqual([]);
    expect(broken.failed[0]).toMatchObject({
      filename: "broken.flac",
      status: "failed",
      embedding_status: "failed",
    });
    expect(broken.failed[0]?.error_message).toMatch(damaged);
    const jobs = await kubectlJson<List<{ status: { phase: string } }>>("get", "embeddingjobs");
    expect(jobs.items.map((job) => job.status.phase)).not.toContain("Failed");
    expect(jobs.items.length).toBeLessThan(voices.train.paths.length);
  });

  const survives = "a training job survives the death of its pod and restarts of operator and API";
  trained = step(survives, [embedded], async () => {
    const set = await labelTakes(user, voices, datasetId, uploads);
    setId = set.id;
    expect(set.total_annotations).toBeGreaterThan(20);
    const job = await user.createTrainingJob(datasetId, setId, {
      artifact_types: types,
      epochs: 8,
      ...smallBatches,
    });
    trainingId = job.id;
    const resource = `tj-${job.id}`;

    const followed = followTraining(user, job.id, () => {});
    const pod = await podOf(resource, "Running");
    const resume = await holdAfter(pod, "the first progress", async () => {
      return (await user.getTrainingJob(job.id)).progress_percent > 0;
    });
    await assertNoCredential(pod.metadata.name);
    await kubectl("delete", "pod", pod.metadata.name, "--wait=false");
    resume();
    const parts = ["operator", "runs", "api"].map((part) => `deployment/plosive-${part}`);
    await kubectl("rollout", "restart", ...parts);
    await until("another pod", 180_000, async () =>
      (await podOf(resource, "Running")).metadata.uid === pod.metadata.uid ? undefined : true,
    );

    const { job: ended, progress } = await followed;
    expect(ended).toMatchObject({ status: "completed", progress_percent: 100, error_message: null });
    expect(progress).toMatchObject({ neverFell: true, hundredExactlyWhenCompleted: true });
    expect((await jobsOf(resource)).map((one) => one.metadata.name)).toEqual([`${resource}-1`]);
    const models = await user.listModels(job.id);
    expect(models).toHaveLength(1);
    modelId = models[0]?.id ?? "";
    await kubectl("rollout", "status", ...parts, "--timeout=120s");
  });

  const isOnce =
    "an inference job survives an operator restart; each detection exists once; a corrupt file fails alone";
  inferred = step(isOnce, [trained], async () => {
    const job = await user.createInferenceJob(modelId);
    const paths = [...voices.test.paths, corruptFile(voices, folder, "unreadable.flac")];
    await uploadAll(
      paths,
      (file) => user.uploadForInference(job.id, file),
      () => {},
    );
    await user.startInferenceJob(job.id);
    await kubectl("rollout", "restart", "deployment/plosive-operator", "deployment/plosive-runs");
    const { job: ended, files } = await waitForInference(user, job.id, () => {});

    expect(ended).toMatchObject({
      total_files: paths.length,
      processed_files: paths.length,
      failed_files: 1,
    });
    expect(files.filter((file) => file.status === "failed").map((file) => file.filename)).toEqual([
      "unreadable.flac",
    ]);
    expect(files.find((file) => file.status === "failed")?.error_message).toMatch(damaged);
    const detections = await user.listDetections(job.id);
    expect(detections.length).toBeGreaterThan(0);
    expect(detections).toHaveLength(ended.total_detections);
    expect(files.reduce((sum, file) => sum + file.detection_count, 0)).toBe(ended.total_detections);
    const identity = detections.map(
      (d) => `${d.inference_file_id} ${d.artifact_type} ${d.start_ms} ${d.end_ms}`,
    );
    expect(new Set(identity).size).toBe(detections.length);
    expect(await jobsOf(`ij-${job.id}`)).toHaveLength(1);
  });

  step("an inference job fails with a reason when none of its files can be used", [trained], async () => {
    const job = await user.createInferenceJob(modelId);
    const paths = ["first.flac", "second.flac"].map((name) => corruptFile(voices, folder, name));
    await uploadAll(
      paths,
      (file) => user.uploadForInference(job.id, file),
      () => {},
    );
    await user.startInferenceJob(job.id);
    const ended = await until("the end of the job", 180_000, async () => {
      const now = await user.getInferenceJob(job.id);
      return now.completed_at === null ? undefined : now;
    });
    expect(ended).toMatchObject({ status: "failed", processed_files: 2, failed_files: 2 });
    const files = await user.listInferenceFiles(job.id);
    for (const { status, error_message } of files)
      expect({ status, error_message }).toEqual({
        status: "failed",
        error_message: expect.stringMatching(damaged),
      });
    const { status } = await kubectlJson<{ status: JobStatus }>("get", "inferencejob", `ij-${job.id}`);
    expect(status).toMatchObject({
      phase: "Failed",
      shards: { succeeded: 1, failed: 0 },
      failure: { class: "User", code: "all_items_failed", message: ended.error_message },
    });
  });

  step(
    "a training job that is created while the API server is frozen waits, and runs once the server is back",
    [trained],
    async () => {
      const apiServer = findProcess("kube-apiserver", clusterPlace().dir);
      process.kill(apiServer, "SIGSTOP");
      let job: { id: string; status: string };
      try {
        job = await user.createTrainingJob(datasetId, setId, {
          artifact_types: ["click"],
          epochs: 1,
          ...smallBatches,
        });
        expect(job.status).toBe("pending");
      } finally {
        process.kill(apiServer, "SIGCONT");
      }
      const { job: ended } = await followTraining(user, job.id, () => {});
      expect(ended.status).toBe("completed");
      expect(await jobsOf(`tj-${job.id}`)).toHaveLength(1);
    },
  );
});

describe("kubectl", () => {
  step("shows phase and progress of each kind", [inferred], async () => {
    for (const kind of ["trainingjobs", "inferencejobs", "embeddingjobs"]) {
      // A job's row ends before the status of its resource shows the end.
      const [head, ...rows] = await until(`all ${kind} to have ended`, 180_000, async () => {
        const lines = (await kubectl("get", kind)).trim().split("\n");
        return lines.some((line) => / (Running|Waiting|Pending) /.test(line)) ? undefined : lines;
      });
      expect(head).toMatch(/^NAME +PHASE +PROGRESS +/);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) expect(row).toMatch(/^\S+ +(Succeeded +100|Failed +\d+) +/);
      expect(rows.filter((row) => / Succeeded /.test(row)).length).toBeGreaterThan(0);
    }
    const models = await kubectl("get", "models");
    expect(models).toContain(`m-${modelId}`);
  });

  step("describes a job with its conditions and events", [trained], async () => {
    const text = await kubectl("describe", "trainingjob", `tj-${trainingId}`);
    expect(text).toMatch(/Conditions:/);
    expect(text).toMatch(/Type: +Succeeded/);
    expect(text.slice(text.indexOf("Events:"))).toMatch(/Normal|Warning/);
  });

  test.each(Object.keys(trainingConfig.shape))("explains spec.config.%s in a sentence", async (field) => {
    const text = await kubectl("explain", `trainingjob.spec.config.${field}`);
    const description = text.slice(text.indexOf("DESCRIPTION:") + "DESCRIPTION:".length).trim();
    expect(description).not.toMatch(/^<empty>/);
    expect(description).toMatch(/^\w+( [^\s]+){3}/);
  });

  test("gets a refusal from the API server for a TrainingJob with 101 epochs, and can create one with 100", async () => {
    const sample = readFileSync(join(import.meta.dirname, "../../crds/samples/training-job.yaml"), "utf8");
    const withEpochs = (epochs: number) => {
      const path = join(folder, `epochs-${epochs}.yaml`);
      writeFileSync(path, sample.replace(/epochs: \d+/, `epochs: ${epochs}`));
      return path;
    };
    const refusal = await kubectlRefusal("", "create", "--dry-run=server", "-f", withEpochs(101));
    expect(refusal).toMatch(/spec\.config\.epochs.*less than or equal to 100/);
    expect(await kubectl("create", "--dry-run=server", "-f", withEpochs(100))).toContain(
      "created (server dry run)",
    );
  });
});

/** Rows of a query that runs as the owner of the embedded database in its pod. */
async function queryDatabase(query: string): Promise<string[][]> {
  const password = "PGPASSWORD=$(cat /etc/plosive/database/password)";
  const psql = `${password} psql -h 127.0.0.1 -U plosive -d plosive -At -F, -v ON_ERROR_STOP=1 -c "$1"`;
  const rows = await kubectl("exec", "plosive-database-0", "--", "sh", "-c", psql, "psql", query);
  return rows
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => row.split(","));
}

/** A worker's pod holds no secret of the service, no API token but the one for the run endpoint, and is "restricted". */
async function assertNoCredential(name: string): Promise<void> {
  const [pod, secrets, namespaceObject] = await Promise.all([
    kubectl("get", "pod", name, "-o", "yaml"),
    kubectlJson<List<Named & { data?: Record<string, string> }>>("get", "secrets"),
    kubectlJson<{ metadata: { labels: Record<string, string> } }>("get", "namespace", namespace),
  ]);
  expect(secrets.items.map((secret) => secret.metadata.name)).toEqual(
    expect.arrayContaining(["plosive-database", "plosive-object-store", "plosive-webhooks"]),
  );
  for (const secret of secrets.items) {
    for (const [member, encoded] of Object.entries(secret.data ?? {})) {
      const value = Buffer.from(encoded, "base64").toString("utf8");
      // The tenant's id is no secret: it is a label of the pod. A value shorter than a password can match by chance.
      if (member === "tenant-id" || value.length < 12) continue;
      const holds = pod.includes(value) || pod.includes(encoded);
      expect(holds, `pod ${basename(name)} holds ${member} of secret ${secret.metadata.name}`).toBe(false);
    }
  }
  expect(pod).toContain("automountServiceAccountToken: false");
  expect(pod).not.toMatch(/secretKeyRef|secretRef|^\s+secret:$/m);
  expect([...pod.matchAll(/audience: (\S+)/g)].map((match) => match[1])).toEqual(["plosive-runs"]);
  // With this label the API server admits only restricted pods. The pod runs, so it is restricted.
  expect(namespaceObject.metadata.labels["pod-security.kubernetes.io/enforce"]).toBe("restricted");
}
