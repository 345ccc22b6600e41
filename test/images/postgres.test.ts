// The entry point of the embedded database's image with the real server: the first start creates the database, and a
// start also works after the kubelet gave the volume to the pod's group (fsGroup: every folder g+rwx).
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, expect, it } from "vitest";
import { makeDatabaseImage } from "../support/postgres-image.ts";

const image = makeDatabaseImage();
afterAll(() => image.remove());

async function start(): Promise<Client> {
  const client = new Client({ connectionString: await image.start() });
  await client.connect();
  return client;
}

it("the embedded database starts again, with its rows, on a volume whose group was changed meanwhile", async () => {
  const first = await start();
  await first.query("create table kept as select 7 as value");
  await first.end();
  await image.stop();
  chmodSync(join(image.folder, "pgdata"), 0o2770);
  const second = await start();
  expect((await second.query("select value from kept")).rows).toEqual([{ value: 7 }]);
  await second.end();
}, 120_000);
