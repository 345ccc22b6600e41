// The commands of the README and of the guides, as they stand there: each block of shell runs in bash, with the values of
// the README's walk in place of the words that a reader replaces (KEY_ID, NAME).
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { repoDir } from "../../tools/cache.ts";
import { kubectlPath } from "../../tools/demo/connection.ts";
import { composeVoices } from "../../tools/demo/voices.ts";
import { blockOf, blocksOf, shellBlocks } from "../support/documents.ts";
import { admin } from "./accounts.ts";
import { clusterName } from "./cluster.ts";
import { type Step, step } from "./steps.ts";
import { takes } from "./takes.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "plosive-commands-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string) => join(folder, name);

beforeAll(async () => {
  const { train } = await composeVoices(takes);
  const inputs = train.paths.flatMap((path) => ["-i", path]);
  const filter = ["-filter_complex", `concat=n=${train.paths.length}:v=0:a=1`, "-ar", "16000", "-ac", "1"];
  await run("ffmpeg", ["-v", "error", ...inputs, ...filter, inFolder("take-01.wav")]);
  // `make -s demo-info` answers for the reader's cluster; here it answers for that of the tests.
  const info = `exec ${process.execPath} ${join(repoDir, "tools/demo/info.ts")} --name ${clusterName}`;
  writeFileSync(inFolder("make"), `#!/bin/sh\n[ "$*" = "-s demo-info" ] || exit 2\n${info}\n`, {
    mode: 0o755,
  });
});

const mark = "=== next block";
const variables = "BASE KEY KUBECONFIG DATASET AUDIO SET JOB MODEL RUN";

/** Runs blocks in one bash that stops at the first failure; returns what each block printed. */
async function bash(blocks: readonly string[], before = ""): Promise<string[]> {
  const env = { ...process.env, PATH: `${folder}:${dirname(kubectlPath())}:${process.env.PATH}` };
  const script = [
    "set -e -o pipefail",
    before,
    ...blocks.flatMap((block) => [`echo; echo "${mark}"`, block]),
  ];
  const { stdout } = await run("bash", ["-c", script.join("\n")], {
    cwd: folder,
    env,
    maxBuffer: 1 << 26,
    timeout: 540_000,
  });
  return stdout.split(`\n${mark}\n`).slice(1);
}
/** The same, with the variables and functions that the README's commands left. */
const bashAfterWalk = (blocks: readonly string[], before = "") =>
  bash(blocks, `source ./variables\n${before}`);

let walked: Step;

describe("README.md", () => {
  walked = step("goes from an empty service to detections and to kubectl", [], async () => {
    const blocks = blocksOf("README.md", "## Use it");
    expect(blocks).toHaveLength(3);
    const [list = "", walk = "", kubectl = ""] = await bash([
      ...blocks,
      `{ declare -p ${variables}; declare -f api new; } > variables`,
    ]);
    expect(JSON.parse(list.trim().split("\n").at(-1) ?? "")).toMatchObject({ page: 1, page_size: 20 });
    const statuses = [...walk.matchAll(/^\{"status":"(\w+)"/gm)].map(([, status]) => status);
    expect(statuses.filter((status) => status === "completed")).toHaveLength(2);
    expect(statuses).not.toContain("failed");
    const columns = "id,inference_file_id,audio_file_id,filename,artifact_type,start_ms,end_ms,confidence";
    expect(walk.split(/\r?\n/)).toContain(columns);
    expect(kubectl).toMatch(/^trainingjob\.plosive\.dev\/tj-\S+ +Succeeded +100 /m);
    expect(kubectl).toMatch(/^Name: +tj-/m);
    expect(kubectl).toContain("epochs");
  });
});

describe("docs/labelling.md", () => {
  step("exports, imports and changes labels, and turns detections into a draft", [walked], async () => {
    writeFileSync(inFolder("take-17.txt"), "1.25\t1.262\tclick\n");
    const sets = "$BASE/api/v1/datasets/$DATASET/annotation-sets";
    const label = `{\\"audio_file_id\\": \\"$AUDIO\\", \\"artifact_type\\": \\"click\\", \\"start_ms\\": 0, \\"end_ms\\": 9}`;
    const draft = [
      `DRAFT=$(api -X POST "${sets}" | new)`,
      `LABEL=$(api "${sets}/$DRAFT/annotations" -d "${label}" | new)`,
    ];
    const [said = "", changed = ""] = await bashAfterWalk(blocksOf("docs/labelling.md"), draft.join("\n"));
    expect(said).toContain('{"imported":1,"skipped":0,');
    expect(said).toContain('"status":"draft"');
    expect(JSON.parse(changed)).toMatchObject({ items: [{ end_ms: 1320, annotator: "ana" }], total: 1 });
    expect(readFileSync(inFolder("take-01.txt"), "utf8")).toBe("1.250000\t1.262000\tclick\n");
  });
});

describe("docs/uploads.md", () => {
  step("uploads a file in parts, and adds one from a URL", [walked], async () => {
    const datasets = "$BASE/api/v1/datasets";
    const ticket = String.raw`{\"filename\": \"$FILE\", \"content_type\": \"audio/wav\", \"size_bytes\": $(stat -c %s $FILE)}`;
    const before = [
      "FILE=take-01.wav",
      `DATASET=$(api "${datasets}" -d '{"name": "uploads"}' | new)`,
      `AUDIO=$(api "${datasets}/$DATASET/audio/upload-url" -d "${ticket}" | jq -r .audio_file_id)`,
    ];
    const blocks = [...blocksOf("docs/uploads.md"), `api -X DELETE "${datasets}/$DATASET"`];
    const [confirmed = "", fetched = ""] = await bashAfterWalk(blocks, before.join("\n"));
    expect(JSON.parse(confirmed)).toMatchObject({ status: "processing", filename: "take-01.wav" });
    expect(JSON.parse(fetched)).toMatchObject({ status: "pending_upload", filename: "take-17.wav" });
  });
});

describe("docs/events.md", () => {
  step("streams events, waits for a change and creates a webhook", [walked], async () => {
    const [stream = "", wait = "", webhook = ""] = blocksOf("docs/events.md");
    // The stream has no end.
    const endless = `(${stream}) > stream & for i in {1..300}; do grep -q "^retry:" stream && break; sleep 0.2; done; kill %1; cat stream`;
    const [streamed = "", waited = "", made = ""] = await bashAfterWalk([endless, wait, webhook], "set -m");
    expect(streamed).toMatch(/^retry: \d+$/m);
    expect(waited).toMatch(/^HTTP\/1.1 200 /m);
    expect(waited).toMatch(/^etag: "/im);
    const { id, secret } = JSON.parse(made) as { id: string; secret: string };
    expect(secret).toMatch(/^whsec_/);
    // No later test may send an event to that address.
    await bashAfterWalk([`curl -sS --fail -X DELETE -H "X-API-Key: $KEY" "$BASE/api/v1/webhooks/${id}"`]);
  });
});

describe("docs/kubectl.md and docs/jobs.md", () => {
  step("apply a job, find it in REST, suspend it, cancel it and wait for one", [walked], async () => {
    const sample = "crds/samples/training-job.yaml";
    mkdirSync(inFolder("crds/samples"), { recursive: true });
    cpSync(join(repoDir, sample), inFolder(sample));
    // The guide says: replace the ids of the tenant, dataset and annotation set.
    const tenants = JSON.parse(await admin("tenants", "list", "--json")) as { id: string; name: string }[];
    const tenantId = tenants.find(({ name }) => name === "default")?.id ?? "";
    // The sample trains click and hum; the README's set has a label of one of them.
    const sets = '"$BASE/api/v1/datasets/$DATASET/annotation-sets"';
    const label = `{\\"audio_file_id\\": \\"$AUDIO\\", \\"artifact_type\\": \\"hum\\", \\"start_ms\\": 0, \\"end_ms\\": 900}`;
    const publish = [
      `NIGHTLY=$(api ${sets} -d "{\\"from_annotation_set_id\\": \\"$SET\\"}" | new)`,
      `api ${sets}/$NIGHTLY/annotations -d "${label}"`,
      `api -X POST ${sets}/$NIGHTLY/publish`,
    ];
    const ids = { tenantId, datasetId: "$DATASET", annotationSetId: "$NIGHTLY" };
    const replace = Object.entries(ids).map(
      ([field, id]) => `sed -i "s/${field}: .*/${field}: ${id}/" ${sample}`,
    );
    const [apply = "", adopted = ""] = blocksOf("docs/kubectl.md");
    const isAccepted = "kubectl -n plosive wait vtj clicks-nightly --for=condition=Accepted --timeout=60s";
    const [, , inRest = ""] = await bashAfterWalk(
      [apply, isAccepted, adopted],
      [...publish, ...replace].join("\n"),
    );
    expect(JSON.parse(inRest)).toMatchObject({ config: { artifact_types: ["click", "hum"] } });

    const [suspend = "", cancel = "", wait = ""] = (blocksOf("docs/jobs.md")[0] ?? "").trim().split("\n");
    const ofNightly = [suspend, cancel].map((line) => line.replace("NAME", "clicks-nightly"));
    const isCancelled =
      "kubectl -n plosive wait vtj clicks-nightly --for=jsonpath='{.status.phase}'=Cancelled --timeout=120s";
    const ofReadme = wait.replace("NAME", '"tj-$JOB"');
    await bashAfterWalk([
      ...ofNightly,
      isCancelled,
      ofReadme,
      "kubectl -n plosive delete vtj clicks-nightly",
    ]);
  });
});

describe("docs/install.md", () => {
  const guide = "docs/install.md";

  step("reaches the API through a forwarded port with the first key", [walked], async () => {
    const [, key = ""] = blockOf(guide, "helm install plosive charts/plosive -n plosive -f")
      .trim()
      .split("\n");
    const [forward = "", base = "", request = ""] = blockOf(guide, "kubectl -n plosive port-forward")
      .trim()
      .split("\n");
    expect(key).toMatch(/^export KEY=/);
    const open = `${forward.replace(/&$/, "> forwarded &")}\nuntil grep -q Forwarding forwarded; do sleep 0.2; done`;
    const [, , , page = ""] = await bashAfterWalk(
      [key, open, base, request, "kill %1"],
      "unset KEY BASE; set -m",
    );
    expect(JSON.parse(page)).toMatchObject({ page: 1 });
  });

  step("creates a tenant and a key, and closes both", [walked], async () => {
    const blocks = [blockOf(guide, "admin="), blockOf(guide, "$admin keys revoke")];
    const lines = blocks.flatMap((block) => block.trim().split("\n"));
    // The reader takes the id from the list of keys.
    const readId = "KEY_ID=$($admin keys list --tenant \"$tenant\" | awk 'NR == 2 {print $1}')";
    const commands = lines.flatMap((line) =>
      line.includes("KEY_ID") ? [readId, line.replace("KEY_ID", "$KEY_ID")] : [line],
    );
    const said = await bashAfterWalk([commands.join("\n")]);
    expect(said.join("\n")).toContain("build server");
  });
});

test("each block of shell in README.md and docs/ runs in a test, or there is a reason why not", () => {
  const elsewhere: Record<string, string> = {
    "make demo": "main-job.test.ts takes the demo's steps on a cluster that tools/up.ts brought up",
    "node_modules/.bin/node tools/demo/main.ts": "the same",
    "docker build -f images/server": "needs Docker; tools/images builds the same Dockerfiles with buildah",
    "docker build -t REGISTRY/plosive-postgres": "the same",
    "kubectl create namespace plosive": "test/charts/install-guide.test.ts runs it",
    "kubectl -n plosive create secret": "the same",
    "helm install plosive charts/plosive": "the same",
    "kubectl -n plosive exec deploy/plosive-operator -- plosive-admin sessions":
      "needs a provider; test/api/oidc-roles.test.ts runs plosive-admin with these arguments",
    "$admin installations move": "needs two installations; test/admin.test.ts runs it with these arguments",
    "kubectl debug node/NODE":
      "needs an image of a public registry; test/worker/test_jail.py fails where Landlock is missing",
    "helm upgrade plosive charts/plosive -n plosive --reset-then-reuse-values --set tracing.endpoint":
      "needs a collector; test/charts renders the value, and test/controllers/traces.test.ts sends to a real collector",
    "CLUSTER=current": "needs a cluster and a registry of the reader's",
    "openssl dgst": "test/release runs it",
    "cosign verify": "the same",
    "tools/build.sh cosign": "the same, with the key in a folder of its own",
    "make release ": "the same: it runs the target's program in a clone",
    "skopeo login": "needs an account of a registry; test/release runs the second line's program",
    "now=$(date": "test/drill runs it",
    "kubectl -n plosive create configmap company-authorities": "the same",
    "kubectl apply -f queues.yaml": "the same",
    "kubectl -n plosive scale deployment": "the same",
    'psql "$OWNER_URL"': "the same",
    'psql "$OWNER_URL" --command \'update leftovers': "test/alerts runs the statement",
    "pg_restore --exit-on-error": "the same",
  };
  const here = [
    ...blocksOf("README.md", "## Use it"),
    ...["labelling", "uploads", "events", "kubectl", "jobs"].flatMap((guide) => blocksOf(`docs/${guide}.md`)),
    ...["kubectl -n plosive port-forward", "admin=", "$admin keys revoke"].map((start) =>
      blockOf("docs/install.md", start),
    ),
  ];
  const starts = Object.keys(elsewhere);
  const rest = shellBlocks().filter(({ text }) => !here.includes(text));
  expect(rest.filter(({ text }) => !starts.some((start) => text.startsWith(start)))).toEqual([]);
  // No reason outlives its block.
  expect(starts.filter((start) => !rest.some(({ text }) => text.startsWith(start)))).toEqual([]);
});
