// A Postgres server and an object store of somebody else's: outside the cluster, where its pods reach them. And what is in them.
// Called by drill.test.ts.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { GetObjectCommand, paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";
import { Client } from "pg";
import { type PostgresServer, serverPrograms, startPostgres } from "../../tools/postgres.ts";
import { freePorts } from "../../tools/process.ts";
import { makeBucket, type S3Server, startS3 } from "../../tools/s3.ts";
import { poll } from "../support/poll.ts";

const run = promisify(execFile);
export const bucket = "plosive";

export interface Database {
  /** As the nodes see it. The owner may create roles, and is no superuser. */
  urlOf(user: User): string;
  readonly port: number;
  query: Query;
  /** Calls `work` with the contents of a moment, and with the name of the snapshot that pg_dump needs for the same. */
  atOneMoment(work: (moment: Moment) => Promise<void>): Promise<void>;
  /** Copies the server as it is now; `recover` needs it. */
  baseBackup(): Promise<void>;
  /** Replaces the server by one with the same address that ends at this moment. */
  recover(time: string): Promise<void>;
  stop(): Promise<void>;
}

export type Query = (text: string) => Promise<Record<string, unknown>[]>;
export interface Moment {
  readonly time: string;
  readonly snapshot: string;
  readonly rows: Record<string, string>;
}

type User = "owner" | "api" | "operator";
export const passwords = { owner: "owner-password", api: "api-password", operator: "operator-password" };
export const logins = {
  owner: "plosive_owner",
  api: "plosive_api_login",
  operator: "plosive_operator_login",
};

/** Files in PEM. */
export interface Tls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Starts Postgres with an empty database, an owner, and an archive of its log for `recover`. */
export async function startDatabase(
  dir: string,
  address: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Database> {
  const [port = 0] = await freePorts(1);
  const [base, log] = [join(dir, "base"), join(dir, "log")];
  mkdirSync(log, { recursive: true });
  chmodSync(dir, 0o755);
  chmodSync(log, 0o777);
  const settings = {
    listen_addresses: `127.0.0.1,${address}`,
    ...{ full_page_writes: "on", archive_mode: "on", archive_command: `cp %p ${log}/%f` },
    ...more,
  };
  const server = { number: 0, dir: join(dir, "server-0") };
  let running: PostgresServer = await startPostgres({ dir: server.dir, port, durable: true, settings });
  const superuser = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const session = async <T>(database: string, work: (query: Query) => Promise<T>): Promise<T> => {
    const client = new Client({ connectionString: superuser(database) });
    await client.connect();
    try {
      return await work(async (text) => (await client.query(text)).rows);
    } finally {
      await client.end();
    }
  };
  const ask = (database: string, text: string) => session(database, (query) => query(text));
  appendFileSync(
    join(server.dir, "data", "pg_hba.conf"),
    `${more.ssl === "on" ? "hostssl" : "host"} all all 10.0.0.0/8 scram-sha-256\n`,
  );
  await ask("postgres", "select pg_reload_conf()");
  await ask("postgres", `create role plosive_owner login createrole password '${passwords.owner}'`);
  await ask("postgres", "create database plosive owner plosive_owner");
  return {
    port,
    urlOf: (user) => `postgres://${logins[user]}:${passwords[user]}@${address}:${port}/plosive`,
    query: (text) => ask("plosive", text),
    atOneMoment: (work) =>
      session("plosive", async (query) => {
        await query("begin isolation level repeatable read");
        const [row] = await query("select now()::text as time, pg_export_snapshot() as snapshot");
        const moment = { time: String(row?.time), snapshot: String(row?.snapshot) };
        await work({ ...moment, rows: await contentsOf(query) });
      }),
    async baseBackup() {
      await run(join(serverPrograms(), "pg_basebackup"), [
        ...["--dbname", superuser("postgres"), "--pgdata", base, "--checkpoint=fast"],
      ]);
    },
    async recover(time) {
      const [last] = await ask("postgres", "select pg_walfile_name(pg_switch_wal()) as file");
      await poll("the log to be archived", async () => {
        const [row] = await ask(
          "postgres",
          `select last_archived_wal >= '${last?.file}' as done from pg_stat_archiver`,
        );
        return row?.done === true;
      });
      await running.stop();
      server.dir = join(dir, `server-${++server.number}`);
      mkdirSync(server.dir);
      // It keeps the modes of folders, about which Postgres is strict.
      await run("cp", ["--archive", base, join(server.dir, "data")]);
      writeFileSync(join(server.dir, "data", "recovery.signal"), "");
      await run("chown", ["-R", "postgres:postgres", server.dir]);
      const recovery = {
        restore_command: `cp ${log}/%f %p`,
        ...{ recovery_target_time: time, recovery_target_action: "promote" },
      };
      running = await startPostgres({
        dir: server.dir,
        ...{ port, durable: true, settings: { ...settings, archive_mode: "off", ...recovery } },
      });
      // It answers while it still recovers.
      await poll("the end of the recovery", async () => {
        const [row] = await ask("postgres", "select pg_is_in_recovery() as recovers");
        return row?.recovers === false;
      });
    },
    stop: () => running.stop(),
  };
}

/** Of each table: the number of its rows, and a digest of all of them. */
export async function contentsOf(query: Query): Promise<Record<string, string>> {
  const tables = await query(`
    select quote_ident(relname) as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`);
  const contents: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await query(`
      select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as sum
      from ${name} t`);
    contents[String(name)] = String(row?.sum);
  }
  return contents;
}

export async function startStore(dir: string, address: string): Promise<S3Server> {
  const server = await startS3({ dir, address });
  await makeBucket(server, bucket);
  return server;
}

const clientOf = ({ endpoint, region, accessKey, secretKey }: S3Server) =>
  new S3Client({
    ...{ endpoint, region, forcePathStyle: true },
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  });

/** SHA-256 of every object by its key. */
export async function digestsOf(server: S3Server): Promise<Record<string, string>> {
  const client = clientOf(server);
  const digests: Record<string, string> = {};
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket })) {
    for (const { Key = "" } of Contents) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key }));
      const hash = createHash("sha256").update((await Body?.transformToByteArray()) ?? "");
      digests[Key] = hash.digest("hex");
    }
  }
  client.destroy();
  return digests;
}
