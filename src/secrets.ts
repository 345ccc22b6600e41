// The secrets job: makes the passwords and keys that an installation does not bring, and replaces the certificates of the
// run endpoint in time. The chart runs it as a Job after every change and as a CronJob every day. It never changes a
// password or key that exists, so Secrets of earlier installations stay as they are.
import { randomBytes } from "node:crypto";
import { type Kube, makeKube, type Ref } from "./kube/client.ts";
import { configMaps, secrets } from "./kube/kinds.ts";
import type { ConfigMap, ResourceType, Secret } from "./kube/objects.ts";
import { type Log, makeLog } from "./log.ts";
import { makeCertificate } from "./secrets/certificate.ts";
import { type Members, rotated, validDays } from "./secrets/rotation.ts";
import { type SecretsSettings, secretsSettings } from "./secrets/settings.ts";

if (import.meta.main) {
  const settings = secretsSettings.parse(JSON.parse(process.argv[2] ?? "{}"));
  const kube = makeKube({ kubeconfig: settings.kubeconfig });
  // A failure ends the process. The kubelet starts it again.
  await fillSecrets(settings, {
    kube,
    log: makeLog("secrets", "info"),
    random: randomBytes,
    now: Date.now(),
  });
  kube.close();
}

interface Deps {
  readonly kube: Pick<Kube, "find" | "get" | "create" | "patch">;
  readonly log: Log;
  readonly random: (size: number) => Buffer;
  /** ms since 1970 */
  readonly now: number;
}

type Texts = Readonly<Record<string, string | undefined>>;

export async function fillSecrets(settings: SecretsSettings, deps: Deps): Promise<void> {
  const { random } = deps;
  const { namespace, database, objectStore, webhooks, certificate, authorities } = settings;
  const fill = (name: string, change: (present: Texts) => Texts) =>
    changeSecret(deps, { namespace, name }, change);

  if (database !== undefined)
    await fill(database.secret, (present) => {
      const url = (user: string, password: string) => `postgres://${user}:${password}@${database.address}`;
      const password = present.password ?? word(random, 24);
      return {
        password,
        url: url("plosive", password),
        "api-url": url("plosive_api_login", word(random, 24)),
        "operator-url": url("plosive_operator_login", word(random, 24)),
        ...present,
      };
    });
  if (objectStore !== undefined)
    await fill(objectStore.secret, (present) => ({
      "access-key-id": random(10).toString("hex").toUpperCase(),
      "secret-access-key": word(random, 30),
      ...present,
    }));
  if (webhooks !== undefined)
    await fill(webhooks.secret, (present) => ({ "secret-key": random(32).toString("base64"), ...present }));
  if (certificate !== undefined) {
    const hosts = [certificate.host, `${certificate.host}.cluster.local`];
    const make = () => makeCertificate(hosts, deps.now, validDays);
    await fill(certificate.secret, (present: Members) => ({
      ...rotated(present, certificate.host, deps.now, make),
    }));
  }
  if (authorities !== undefined) await publish(deps, namespace, authorities);
}

/** Letters, digits, - and _: a URL contains it as it is. */
function word(random: Deps["random"], bytes: number): string {
  return random(bytes).toString("base64url");
}

async function changeSecret(deps: Deps, ref: Ref, change: (present: Texts) => Texts): Promise<void> {
  const found = await deps.kube.find(secrets, ref);
  const present = Object.fromEntries(
    Object.entries(found?.data ?? {})
      .map(([member, value]) => [member, Buffer.from(value, "base64").toString()] as const)
      .filter(([, value]) => value !== ""),
  );
  await write(deps, secrets, ref, found, present, change(present), (text) =>
    Buffer.from(text).toString("base64"),
  );
}

/** Worker pods mount a ConfigMap, because they may not mount a Secret with a private key. */
async function publish(
  deps: Deps,
  namespace: string,
  { secret, configMap }: NonNullable<SecretsSettings["authorities"]>,
): Promise<void> {
  const { data = {} } = await deps.kube.get(secrets, { namespace, name: secret });
  const authority = Buffer.from(data["ca.crt"] ?? "", "base64").toString();
  if (authority === "")
    throw new Error(
      `Secret ${secret} has no member ca.crt: add the certificate of its authority, or name a ConfigMap that has it (runs.certificate.existingConfigMap)`,
    );
  const ref = { namespace, name: configMap };
  const found = await deps.kube.get(configMaps, ref);
  await write(deps, configMaps, ref, found, found.data ?? {}, { "ca.crt": authority }, (text) => text);
}

/** Of two jobs at once only one creates or, with the resource version, changes. The other fails and starts again. */
async function write<T extends Secret | ConfigMap>(
  { kube, log }: Deps,
  type: ResourceType<T>,
  ref: Ref,
  found: T | undefined,
  present: Texts,
  wanted: Texts,
  encode: (text: string) => string,
): Promise<void> {
  const changed = Object.entries(wanted).filter(([member, value]) => present[member] !== value);
  if (changed.length === 0) return;
  const data = Object.fromEntries(changed.map(([member, value = ""]) => [member, encode(value)]));
  if (found === undefined) {
    const labels = { "app.kubernetes.io/part-of": "plosive" };
    await kube.create(type, { metadata: { ...ref, labels }, data } as unknown as T);
  } else {
    const { resourceVersion } = found.metadata;
    await kube.patch(type, ref, { metadata: { resourceVersion }, data });
  }
  log.info({ object: ref.name, members: Object.keys(data) }, `wrote members of the ${type.kind}`);
}
