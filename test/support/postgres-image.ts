// The embedded database as its image starts it: the entry point with the real server, including passwords, on a free
// loopback port. The servers of other tests trust every connection. Called by tests of the image and of the database
// users.
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { repoDir } from "../../tools/cache.ts";
import { serverPrograms, unprivilegedUser } from "../../tools/postgres.ts";
import { type Daemon, freePorts, startDaemon, waitUntil } from "../../tools/process.ts";

const password = "correct horse";

export interface DatabaseImage {
  /** The volume; its data directory is pgdata. */
  readonly folder: string;
  /** Starts the server, or starts it again, and returns the owner's address. */
  start(...settings: string[]): Promise<string>;
  /** The complete log of the server. */
  log(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
  remove(): Promise<void>;
}

export function makeDatabaseImage(): DatabaseImage {
  // Below /tmp, because the server's user must be able to enter every parent directory.
  const folder = mkdtempSync("/tmp/plosive-postgres-");
  const owner = unprivilegedUser();
  writeFileSync(join(folder, "password"), password);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o755);
  const logFile = join(folder, "log");
  let server: Daemon | undefined;
  const stop = async (signal: NodeJS.Signals = "SIGINT") => {
    await server?.kill(signal);
    server = undefined;
  };
  return {
    folder,
    async start(...settings) {
      const [port = 0] = await freePorts(1);
      server = startDaemon({
        name: "postgres",
        command: "bash",
        args: [
          join(repoDir, "images/postgres/entrypoint.sh"),
          ...[`port=${port}`, ...settings].flatMap((setting) => ["-c", setting]),
        ],
        log: logFile,
        cwd: folder,
        env: {
          PATH: `${serverPrograms()}:/usr/bin:/bin`,
          PGDATA: join(folder, "pgdata"),
          POSTGRES_PASSWORD_FILE: join(folder, "password"),
        },
        uid: owner?.uid,
        gid: owner?.gid,
      });
      const url = `postgres://plosive:${encodeURIComponent(password)}@127.0.0.1:${port}/plosive`;
      const connects = async () => {
        const client = new Client({ connectionString: url });
        await client.connect();
        await client.end();
        return true;
      };
      await waitUntil("the database", connects, { timeoutMs: 60_000, daemons: [server] });
      return url;
    },
    log: () => readFileSync(logFile, "utf8"),
    stop,
    async remove() {
      await stop("SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
