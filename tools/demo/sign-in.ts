// A link that opens the dashboard, signed in. Called by main.ts and by the end-to-end tests.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { z } from "zod";
import { type Connection, kubectlPath } from "./connection.ts";

const run = promisify(execFile);
const page = z.object({ items: z.array(z.object({ tenant_id: z.string() })) });

/** Returns a link that works once, within 10 minutes. The account must have a dataset. Rejects if the cluster does not answer. */
export async function signInLink({ base_url, api_key, kubeconfig, namespace }: Connection): Promise<string> {
  const headers = { "X-API-Key": api_key };
  const answer = await fetch(`${base_url}/api/v1/datasets?page_size=1`, { headers });
  const tenant = page.parse(await answer.json()).items[0]?.tenant_id ?? "";
  const admin = [
    "exec",
    "deploy/plosive-operator",
    "--",
    "plosive-admin",
    "sign-in-link",
    "--tenant",
    tenant,
  ];
  const { stdout } = await run(kubectlPath(), ["--kubeconfig", kubeconfig, "-n", namespace, ...admin]);
  return base_url + stdout.trim();
}
