// `make demo-info`: prints {base_url, api_key, kubeconfig, namespace} of the running service as JSON, for scripts.
import { findService } from "./connection.ts";

try {
  process.stdout.write(`${JSON.stringify(await findService(), null, 2)}\n`);
} catch (error) {
  process.stderr.write(
    `demo-info: could not read where the service is: ${error instanceof Error ? error.message : error}\nIs it running? \`make cluster-status\` tells; \`make up\` starts it.\n`,
  );
  process.exitCode = 1;
}
