// The backup of docs/backup.md never harms an earlier one: after the loss of the bucket, and when a part of it fails.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { secrets } from "../../src/kube/kinds.ts";
import { makeStorage } from "../../src/storage/storage.ts";
import { bucketOf, type S3Server } from "../../tools/s3.ts";
import { useOwnCluster } from "../support/kube.ts";
import { makeNamespace } from "../support/namespace.ts";
import { poll } from "../support/poll.ts";
import { backupEnv, follow } from "./guide.ts";
import { bucket, type Database, digestsOf, startDatabase, startStore } from "./servers.ts";

const cluster = useOwnCluster();
const folder = mkdtempSync(join(tmpdir(), "plosive-backup-"));
chmodSync(folder, 0o755);
let database: Database;
let store: S3Server;
let copy: S3Server;

beforeAll(async () => {
  const name = "plosive";
  await makeNamespace(cluster.admin, name, false);
  for (const secret of ["plosive-webhooks", "plosive-initial-api-key"])
    await cluster.admin.create(secrets, { metadata: { name: secret, namespace: name } });
  database = await startDatabase(join(folder, "database"), "127.0.0.2");
  store = await startStore(join(folder, "store"), "127.0.0.1");
  copy = await startStore(join(folder, "copy"), "127.0.0.1");
});
afterAll(async () => {
  await Promise.all([database?.stop(), store?.stop(), copy?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const backUp = (ownerUrl = database.urlOf("owner")) =>
  follow(
    {
      folder,
      kubeconfig: cluster.plane.kubeconfigPath,
      env: backupEnv({ ownerUrl, bucket: store, copy }),
    },
    "docs/backup.md",
    "now=",
  );

/** The backup's files by their names. */
const files = () =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => /\.(dump|json)$/.test(name))
      .map((name) => [name, readFileSync(join(folder, name), "base64")]),
  );

it("keeps every earlier dump, and what the bucket has lost since", async () => {
  const storage = makeStorage(bucketOf(store, bucket));
  try {
    await storage.write("audio/a", Buffer.from("first"));
    await backUp();
    const first = files();
    expect(Object.keys(first)).toHaveLength(2);
    const copied = await digestsOf(copy);
    expect(Object.keys(copied)).toEqual(["audio/a"]);
    // The files are named after the second.
    const second = Math.trunc(Date.now() / 1000);
    await poll("the next second", () => Math.trunc(Date.now() / 1000) > second);

    await storage.remove("audio/a");
    expect(await digestsOf(store)).toEqual({});
    await backUp();
    expect(Object.keys(files())).toHaveLength(4);
    expect(files()).toMatchObject(first);
    expect(await digestsOf(copy)).toEqual(copied);

    // Without a dump that names the new object, the copy need not have it.
    await storage.write("audio/b", Buffer.from("second"));
    await expect(backUp("postgres://plosive_owner@127.0.0.2:1/plosive")).rejects.toThrow("refused");
    expect(files()).toMatchObject(first);
    expect(await digestsOf(copy)).toEqual(copied);
  } finally {
    storage.close();
  }
});
