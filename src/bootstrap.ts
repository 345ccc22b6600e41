// Prepares an installation: schema, database users, bucket and, if configured, the first tenant with its API key in
// a Secret. The chart runs it as a Job after every install and upgrade. It is idempotent, also after a crash.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { hashApiKey, isApiKey, makeApiKey, prefixOf } from "./api/api-key-format.ts";
import { type BootstrapConfig, bootstrapConfig } from "./config.ts";
import { insertApiKey } from "./db/api-key.ts";
import { newId } from "./db/driver/id.ts";
import { ensureLogin } from "./db/driver/login.ts";
import { migrate } from "./db/driver/migrate.ts";
import { type DatabasePool, makeDatabase } from "./db/driver/pool.ts";
import { ensureTenant, wasErased } from "./db/tenant.ts";
import { type Kube, makeKube } from "./kube/client.ts";
import { isAlreadyExists } from "./kube/errors.ts";
import { secrets } from "./kube/kinds.ts";
import type { Secret } from "./kube/objects.ts";
import { type Log, makeLog } from "./log.ts";
import { makeStorage } from "./storage/storage.ts";

if (import.meta.main) await main();

async function main(): Promise<void> {
  const config = bootstrapConfig();
  const log = makeLog("bootstrap", config.PLOSIVE_LOG_LEVEL);
  const deadline = Date.now() + config.PLOSIVE_BOOTSTRAP_WAIT_SECONDS * 1000;
  const storage = makeStorage(config);
  const db = await retry(log, deadline, "Postgres", () =>
    makeDatabase({ ...config, PLOSIVE_DATABASE_POOL: 2 }),
  );
  try {
    const ran = await migrate(db, undefined, {
      installation: config.PLOSIVE_INSTALLATION,
      onBlocked: (reason) => log.warn({ reason }, "a migration is blocked; trying again"),
    });
    log.info({ ran }, ran.length === 0 ? "the database schema is up to date" : "migrated the database");
    await ensureLogins(config, log);
    await retry(log, deadline, "the object store", () => storage.ensureBucket());
    log.info({ bucket: config.PLOSIVE_S3_BUCKET }, "the bucket exists");
    await allowPages(storage, log);
    const name = config.PLOSIVE_BOOTSTRAP_SECRET;
    if (name !== undefined) {
      const kube = makeKube({ kubeconfig: config.PLOSIVE_KUBECONFIG });
      const ref = { namespace: config.PLOSIVE_NAMESPACE, name };
      const exist = await retry(log, deadline, "Kubernetes", () =>
        ensureFirstKey({ db, kube, ref, random: randomBytes }),
      );
      kube.close();
      if (exist) log.info({ secret: name }, "the first tenant and its API key exist");
      else
        log.warn(
          { secret: name },
          "the first tenant was erased and stays so; set bootstrap.enabled to false",
        );
    }
  } finally {
    storage.close();
    await db.end();
  }
}

/** Not every store has CORS rules, and not every key may set them: MinIO allows all pages by default. */
async function allowPages(storage: ReturnType<typeof makeStorage>, log: Log): Promise<void> {
  try {
    const isNew = await storage.allowPages();
    log.info(
      isNew ? "web pages may use the bucket by presigned URLs" : "the bucket keeps its own CORS rules",
    );
  } catch (err) {
    log.warn(
      { err },
      "the CORS rules of the bucket cannot be set; the dashboard needs them for uploads (docs/install.md)",
    );
  }
}

/** A process without its own database URL logs in as the owner, who must then be a member of that process's role. */
async function ensureLogins(config: BootstrapConfig, log: Log): Promise<void> {
  const { PLOSIVE_DATABASE_URL: owner } = config;
  const { PLOSIVE_API_DATABASE_URL: api = owner, PLOSIVE_OPERATOR_DATABASE_URL: operator = owner } = config;
  await ensureLogin(owner, api, ["plosive_api"]);
  await ensureLogin(owner, operator, ["plosive_operator", "plosive_admin"]);
  log.info("the database users exist");
}

interface FirstKeyDeps {
  readonly db: DatabasePool;
  readonly kube: Pick<Kube, "find" | "create">;
  readonly ref: { namespace: string; name: string };
  readonly random: (size: number) => Uint8Array;
}

/**
 * Creates the Secret first, then the rows from it: the Secret is the source of truth. If the process crashes in
 * between, the next run finds the key in the Secret and inserts the row. A key that was revoked meanwhile keeps its row
 * and stays revoked. Returns false, and inserts nothing, when the tenant was erased.
 */
export async function ensureFirstKey({ db, kube, ref, random }: FirstKeyDeps): Promise<boolean> {
  const secret = (await kube.find(secrets, ref)) ?? (await createSecret(kube, ref, random));
  const tenantId = member(secret, "tenant-id");
  const key = member(secret, "api-key");
  if (!isApiKey(key)) throw new Error(`the member api-key of Secret ${ref.name} is not a Plosive API key`);
  if (await wasErased(db, tenantId)) return false;
  await ensureTenant(db, tenantId, "default");
  const row = { name: "first key", prefix: prefixOf(key), hash: hashApiKey(key), expiresAt: null };
  await insertApiKey(db, tenantId, row);
  return true;
}

async function createSecret(
  kube: FirstKeyDeps["kube"],
  ref: { namespace: string; name: string },
  random: (size: number) => Uint8Array,
): Promise<Secret> {
  try {
    return await kube.create(secrets, {
      metadata: ref,
      type: "Opaque",
      data: { "tenant-id": base64(newId()), "api-key": base64(makeApiKey(random)) },
    });
  } catch (error) {
    // Another run created it first.
    const present = isAlreadyExists(error) ? await kube.find(secrets, ref) : undefined;
    if (present === undefined) throw error;
    return present;
  }
}

function member(secret: Secret, name: string): string {
  const value = secret.data?.[name];
  if (value === undefined) throw new Error(`Secret ${secret.metadata.name} has no member ${name}`);
  return Buffer.from(value, "base64").toString();
}

// A function, not a constant: main() runs at the top of this file, before the constants below it are initialized.
function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** Retries every 2 s until `attempt` resolves or `deadline` (ms since 1970) has passed; logs what it waits for. */
async function retry<T>(log: Log, deadline: number, what: string, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`, { cause: error });
      log.info({ reason: String(error) }, `waiting for ${what}`);
      await pause(2_000);
    }
  }
}
