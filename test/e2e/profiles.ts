// Worker profiles whose pods fail in different ways, in the operator's configuration. Where possible, the profile runs
// the real worker; else a few lines stand in for it that end as a worker would: kubelet, Job controller and operator
// see no difference. Each stand-in has a comment with its reason. Called by the end-to-end tests.
import type { PodProfile, Profiles, Verb } from "../../src/schemas/profile.ts";
import { kubectl, kubectlJson } from "./cluster.ts";
import { asks } from "./injection.ts";

type Pod = Omit<PodProfile, "scratchSize" | "env"> & Partial<Pick<PodProfile, "scratchSize" | "env">>;

const verbs = ["embed", "train", "detect"] as const;
const small = { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "256Mi" } };

/** A node has it while a test offers it; the scheduler decides which pod gets it. */
export const gpu = "nvidia.com/gpu";
export const seat = "plosive.dev/seat";
export const pool = "plosive.dev/pool";
export const spare = "plosive.dev/spare";

/** `server` is an image with Node: NODE_OPTIONS runs the given code before anything else. */
function profilesWith(server: string, standard: Record<Verb, Pod>): Record<string, Record<Verb, Pod>> {
  const standIn = (code: string, more: Partial<Pod> = {}): Record<Verb, Pod> => {
    const env = [
      { name: "NODE_OPTIONS", value: `--import=data:text/javascript,${encodeURIComponent(code)}` },
    ];
    return forAll(() => ({ image: server, imagePullPolicy: "IfNotPresent", resources: small, env, ...more }));
  };
  /** Leaves a termination message as the worker does. */
  const ends = (exitCode: number, code: string, message: string) => {
    const counts = { items_done: null, items_total: null, items_failed: null };
    const text = JSON.stringify({ code, message, hint: null, shard: 0, item: null, ...counts });
    return standIn(
      `import{writeFileSync}from"node:fs";writeFileSync("/dev/termination-log",${JSON.stringify(text)});process.exit(${exitCode})`,
    );
  };
  // The first process of a container ends at SIGTERM only with a handler. It logs when the handler is in place.
  const silent =
    'process.on("SIGTERM",()=>process.exit(75));console.log("ready");await new Promise(()=>setInterval(()=>{},1e6))';
  const reportsWrongly = `
import { readFileSync } from "node:fs";
import { request } from "node:https";
process.on("SIGTERM", () => process.exit(75));
const { PLOSIVE_RUN_URL: url, PLOSIVE_TOKEN_FILE: token, PLOSIVE_CA_FILE: ca, JOB_COMPLETION_INDEX: shard } = process.env;
setInterval(() => {
  const headers = { authorization: "Bearer " + readFileSync(token, "utf8").trim() };
  const options = { method: "PUT", headers, ca: readFileSync(ca) };
  request(url + "/shards/" + shard + "/progress", options, (answer) => answer.resume()).on("error", console.error).end("{}");
}, 1000);
await new Promise(() => {});`;
  const worker = (more: Partial<Pod>) => forAll((verb) => ({ ...standard[verb], ...more }));
  const withOne = (device: string, resources: Pod["resources"]) => ({
    ...resources,
    limits: { ...resources?.limits, [device]: "1" },
  });
  return {
    // The worker finds no shard index, or the index of another shard.
    "bad-manifest": worker({ env: [{ name: "JOB_COMPLETION_INDEX", value: "none" }] }),
    forbidden: worker({ env: [{ name: "JOB_COMPLETION_INDEX", value: "7" }] }),
    "little-memory": worker({ resources: { requests: small.requests, limits: { memory: "40Mi" } } }),
    // numpy cannot be imported without the CPU instructions it was built for: an error that the worker does not expect.
    internal: worker({ env: [{ name: "NPY_DISABLE_CPU_FEATURES", value: "X86_V2 NEON" }] }),
    // glibc searches a domain that does not exist, and only the cluster's own would complete the name of the run endpoint:
    // the worker tries nine times, in about a minute and a half.
    temporary: worker({ env: [{ name: "LOCALDOMAIN", value: "nowhere.invalid" }] }),
    // A stand-in, because only third-party workers use this exit code: Plosive's reports each unusable file in its
    // result and exits with 0, even if every file is unusable (test/worker/test_verbs.py,
    // test_a_shard_of_unusable_audio_alone; main-job.test.ts shows the end of the job).
    "unusable-audio": ends(65, "unusable_audio", "None of the audio can be used."),
    // A stand-in, because test machines may have no GPU. test/worker/test_verbs.py, test_an_out_of_memory_gpu_is_reported_as_such,
    // shows how the worker handles a full GPU.
    "gpu-memory": ends(71, "gpu_out_of_memory", "The GPU has too little memory."),
    silent: standIn(silent),
    // Ends in 40 seconds with the exit code of a user's error, after a test has changed something.
    "ends-late": standIn(
      'process.on("SIGTERM",()=>process.exit(75));await new Promise((go)=>setTimeout(go,40_000));process.exit(65)',
    ),
    // A stand-in for the worker image of another version: it reports to the run endpoint what that does not understand.
    "reports-wrongly": standIn(reportsWrongly),
    // The pull fails at once, as from a registry that does not exist.
    "no-image": worker({ image: "127.0.0.1:1/plosive-worker:none", resources: small }),
    "no-name": worker({ image: "plosive//worker", resources: small }),
    "no-secret": worker({ env: [{ name: asks, value: "yes" }], resources: small }),
    "no-gpu": standIn(silent, { resources: withOne(gpu, small) }),
    "gpu-pool": forAll((verb) => ({
      ...standard[verb],
      resources: withOne(gpu, standard[verb].resources),
      nodeSelector: { [pool]: "gpu" },
      tolerations: [{ key: gpu, operator: "Exists", effect: "NoSchedule" }],
    })),
    "spare-pool": standIn(silent, {
      nodeSelector: { [pool]: "spare" },
      tolerations: [{ key: spare, operator: "Exists", effect: "NoSchedule" }],
    }),
    seat: forAll((verb) => ({ ...standard[verb], resources: withOne(seat, standard[verb].resources) })),
    "silent-seat": standIn(silent, { resources: withOne(seat, small) }),
  };
}

const forAll = (make: (verb: Verb) => Pod) =>
  Object.fromEntries(verbs.map((verb) => [verb, make(verb)])) as Record<Verb, Pod>;

/** Adds the profiles, and removes the limits of running and waiting jobs of an account. Once for a cluster. */
export async function addProfiles(): Promise<void> {
  const configMap = "plosive-profiles";
  const [{ data }, server] = await Promise.all([
    kubectlJson<{ data: Record<string, string> }>("get", "configmap", configMap),
    kubectl("get", "deployment", "plosive-operator", "-o", "jsonpath={..image}"),
  ]);
  const present = JSON.parse(data["profiles.json"] ?? "{}") as Profiles;
  const { default: standard } = present;
  const wanted = { default: standard, ...profilesWith(server.trim(), standard as Record<Verb, Pod>) };
  if (JSON.stringify(wanted) === JSON.stringify(present)) return;
  const patch = JSON.stringify({ data: { "profiles.json": JSON.stringify(wanted) } });
  await kubectl("patch", "configmap", configMap, "--type=merge", "--patch", patch);
  const quotas = ["RUNNING", "WAITING"].map((state) => `PLOSIVE_QUOTA_${state}_TRAININGS=0`);
  await kubectl("set", "env", "deployment/plosive-operator", ...quotas);
  await kubectl("rollout", "restart", "deployment/plosive-operator");
  await kubectl("rollout", "status", "deployment/plosive-operator", "--timeout=180s");
}
