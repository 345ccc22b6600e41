// The entry point of the embedded database's image with the real server: the first start makes the database, and a start
// after the kubelet gave the volume to the pod's group (fsGroup: every folder g+rwx) works as well.
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repoDir } from "../../tools/cache.ts";
import { serverPrograms, unprivilegedUser } from "../../tools/postgres.ts";
import { type Daemon, freePorts, startDaemon, waitUntil } from "../../tools/process.ts";

const password = "correct horse";
const owner = unprivilegedUser();
let folder: string;
let server: Daemon | undefined;

beforeAll(() => {
  // Below /tmp, because every folder above it must be open to the server's user.
  folder = mkdtempSync("/tmp/plosive-postgres-");
  writeFileSync(join(folder, "password"), password);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o755);
});
afterAll(async () => {
  await server?.kill("SIGQUIT");
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<Client> {
  const [port = 0] = await freePorts(1);
  server = startDaemon({
    name: "postgres",
    command: "bash",
    args: [join(repoDir, "images/postgres/entrypoint.sh"), "-c", `port=${port}`],
    log: join(folder, "log"),
    cwd: folder,
    env: {
      PATH: `${serverPrograms()}:/usr/bin:/bin`,
      PGDATA: join(folder, "pgdata"),
      POSTGRES_PASSWORD_FILE: join(folder, "password"),
    },
    uid: owner?.uid,
    gid: owner?.gid,
  });
  const settings = { host: "127.0.0.1", port, user: "plosive", password, database: "plosive" };
  let client = new Client(settings);
  const connects = async () => {
    client = new Client(settings);
    await client.connect();
    return true;
  };
  await waitUntil("the database", connects, { timeoutMs: 60_000, daemons: [server] });
  return client;
}

it("starts again, with its rows, on a volume that was given to a group meanwhile", async () => {
  const first = await start();
  await first.query("create table kept as select 7 as value");
  await first.end();
  await server?.kill("SIGINT");
  chmodSync(join(folder, "pgdata"), 0o2770);
  const second = await start();
  expect((await second.query("select value from kept")).rows).toEqual([{ value: 7 }]);
  await second.end();
}, 120_000);
