// Takes over the certificate of the run endpoint from chart 0.1 before an upgrade, whose Secret Helm deletes with the
// upgrade. Pods of running jobs trust only that certificate. The chart runs this as a hook; it goes with chart 0.3.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Kube, makeKube } from "../kube/client.ts";
import { isAlreadyExists } from "../kube/errors.ts";
import { secrets } from "../kube/kinds.ts";
import { type TakeOverSettings, takeOverSettings } from "./settings.ts";

if (import.meta.main) {
  const settings = takeOverSettings.parse(JSON.parse(process.argv[2] ?? "{}"));
  if (existsSync(join(settings.folder, "tls.key"))) {
    const kube = makeKube({ kubeconfig: settings.kubeconfig });
    await takeOver(settings, kube);
    kube.close();
  }
}

export async function takeOver(settings: TakeOverSettings, kube: Pick<Kube, "create">): Promise<void> {
  const { namespace, secret, folder } = settings;
  const members = ["ca.crt", "tls.crt", "tls.key"].map(
    (member) => [member, readFileSync(join(folder, member)).toString("base64")] as const,
  );
  const labels = { "app.kubernetes.io/part-of": "plosive" };
  try {
    await kube.create(secrets, {
      metadata: { namespace, name: secret, labels },
      data: Object.fromEntries(members),
    });
  } catch (error) {
    // An earlier attempt at this upgrade created it.
    if (!isAlreadyExists(error)) throw error;
  }
}
