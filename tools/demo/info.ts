// `make demo-info`: prints {base_url, api_key, kubeconfig, namespace} of the running service as JSON, for scripts.
// Usage: info.ts [--name CLUSTER]
import { parseArgs } from "node:util";
import { findService } from "./connection.ts";

const { values } = parseArgs({ options: { name: { type: "string" } } });

try {
  process.stdout.write(`${JSON.stringify(await findService({ cluster: values.name }), null, 2)}\n`);
} catch (error) {
  process.stderr.write(
    `demo-info: could not find the service: ${error instanceof Error ? error.message : error}\nCheck the cluster with \`make cluster-status\`; start the service with \`make up\`.\n`,
  );
  process.exitCode = 1;
}
