// `make demo`, after tools/up.ts: acts as a user of the running service and prints the quality of the results. Usage:
// tools/demo/main.ts [--json FILE] [--train-minutes 14] [--test-minutes 4] [--seed 7] [--base-url URL --api-key KEY]
// Exit code 0 only if every step succeeds, macro F1 is at least .70 and progress_percent behaves as documented.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Connection, findService, kubectlPath } from "./connection.ts";
import { type Figures, play } from "./play.ts";
import { signInLink } from "./sign-in.ts";
import { StepError } from "./step.ts";
import { makeUser } from "./user.ts";

const goalF1 = 0.7;
const leastProgressValues = 5;

const { values: options } = parseArgs({
  options: {
    json: { type: "string" },
    "train-minutes": { type: "string", default: "14" },
    "test-minutes": { type: "string", default: "4" },
    seed: { type: "string", default: "7" },
    "base-url": { type: "string" },
    "api-key": { type: "string" },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

try {
  const started = Date.now();
  const service = await connect();
  const kubectl = `${kubectlPath()} --kubeconfig ${service.kubeconfig} -n ${service.namespace}`;
  say(`Plosive at ${service.base_url}`);
  const figures = await play({
    user: makeUser({ baseUrl: service.base_url, apiKey: service.api_key }),
    out: process.stdout,
    voices: {
      trainMinutes: Number(options["train-minutes"]),
      testMinutes: Number(options["test-minutes"]),
      seed: Number(options.seed),
    },
    name: `demo ${new Date(started).toISOString().slice(0, 19).replace("T", " ")}`,
    kubectl,
  });
  const shortfalls = findShortfalls(figures);
  const seconds = Math.round((Date.now() - started) / 100) / 10;
  if (options.json) {
    const all = {
      ok: shortfalls.length === 0,
      shortfalls,
      total_seconds: seconds,
      base_url: service.base_url,
      ...figures,
    };
    writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`);
  }
  sayWhereToLook(service, kubectl, await dashboardOf(service));
  for (const shortfall of shortfalls) say(`demo: goal missed: ${shortfall}`);
  say(shortfalls.length === 0 ? `demo: succeeded after ${seconds} s` : `demo: failed after ${seconds} s`);
  process.exitCode = shortfalls.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`\n${explain(error)}\n`);
  process.exitCode = 1;
}

async function connect(): Promise<Connection> {
  const [baseUrl, apiKey] = [options["base-url"], options["api-key"]];
  if (baseUrl === undefined || apiKey === undefined) return findService();
  return {
    base_url: baseUrl,
    api_key: apiKey,
    kubeconfig: process.env.KUBECONFIG ?? "",
    namespace: "plosive",
  };
}

function findShortfalls({ score, progress }: Figures): string[] {
  const shortfalls: string[] = [];
  if (!(score.macroF1 >= goalF1))
    shortfalls.push(`macro F1 is ${score.macroF1.toFixed(3)}, the goal is ${goalF1}`);
  if (progress.distinct < leastProgressValues) {
    shortfalls.push(
      `progress_percent had ${progress.distinct} distinct values, the goal is at least ${leastProgressValues}`,
    );
  }
  if (!progress.neverFell) shortfalls.push(`progress_percent decreased: ${progress.values.join(", ")}`);
  if (!progress.hundredExactlyWhenCompleted)
    shortfalls.push("progress_percent must be 100 if and only if the status is completed, and it was not");
  return shortfalls;
}

/** The address of the dashboard; for a service elsewhere, whose cluster is not known, without a link that signs in. */
async function dashboardOf(service: Connection): Promise<string> {
  if (options["base-url"] === undefined)
    try {
      return `${await signInLink(service)}   (signs in once, within 10 minutes)`;
    } catch (error) {
      say(`demo: could not make a link to the dashboard: ${error instanceof Error ? error.message : error}`);
    }
  return `${service.base_url}/dashboard/   (sign in with the key)`;
}

function sayWhereToLook({ base_url, api_key }: Connection, kubectl: string, dashboard: string): void {
  say(`
The service keeps running. Look at the dataset, the training and the detections, and listen to them:
  ${dashboard}
You can also explore it from the command line:
  API      ${base_url}   (description: ${base_url}/openapi.json)
  key      ${api_key}
  curl -H "X-API-Key: ${api_key}" ${base_url}/api/v1/training-jobs
  ${kubectl} get trainingjobs,inferencejobs,embeddingjobs,models
  ${kubectl} describe trainingjobs
  ${kubectl} explain trainingjob.spec.config
  ${kubectl} get pods,jobs
\`make demo-info\` prints address and key for scripts; \`make demo-down\` removes everything.
`);
}

function explain(error: unknown): string {
  if (!(error instanceof StepError)) {
    return `demo: could not start: ${error instanceof Error ? error.message : String(error)}\n  try: start the service with \`make up\`, check the cluster with \`make cluster-status\`.`;
  }
  return `demo: failed step: ${error.step}\n  reason: ${error.message}\n  try: ${error.hint}`;
}
