// A real PostgreSQL server for tests: a new cluster on a free loopback port, without fsync; stop() deletes it. Called
// by tests, benchmarks and contract checks. Uses the server programs of Debian's package (make deps), or those of
// the major version in PLOSIVE_TEST_POSTGRES (tools/deps.sh postgres 18).
import { execFile } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { cacheDir } from "./cache.ts";
import { freePorts, startDaemon, waitUntil } from "./process.ts";

const run = promisify(execFile);

export interface PostgresServer {
  /** URL of the superuser, e.g. postgres://postgres@127.0.0.1:5433/postgres */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL with its data in `dir` (created if missing; other users must be able to enter its parent folders). Data that
 * are in `dir`/data already are kept.
 */
export async function startPostgres({
  dir,
  port: wantedPort,
  durable = false,
  settings: more = {},
}: {
  dir: string;
  /** A free one unless given. */
  port?: number;
  /** Whether a commit survives a crash of the server process, as in a real installation. Slower. */
  durable?: boolean;
  /** Further settings of the server. */
  settings?: Readonly<Record<string, string>>;
}): Promise<PostgresServer> {
  const bin = serverPrograms();
  const owner = unprivilegedUser();
  const data = join(dir, "data");
  mkdirSync(dir, { recursive: true });
  if (owner) chownSync(dir, owner.uid, owner.gid);
  if (!existsSync(data)) await initialize(bin, data, owner);

  for (let attempt = 1; ; attempt++) {
    const port = wantedPort ?? (await freePorts(1))[0]!;
    const settings = {
      listen_addresses: "127.0.0.1",
      port,
      unix_socket_directories: dir,
      fsync: "off",
      synchronous_commit: durable ? "on" : "off",
      full_page_writes: "off",
      max_connections: 200,
      // Each test file has a template database, so there are many small ones; the default of 128 MB is meant for a
      // large one.
      shared_buffers: "64MB",
      ...more,
    };
    const daemon = startDaemon({
      name: "postgres",
      command: join(bin, "postgres"),
      args: ["-D", data, ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`])],
      log: join(dir, "postgres.log"),
      cwd: dir,
      uid: owner?.uid,
      gid: owner?.gid,
    });
    try {
      await waitUntil("postgres to accept connections", () => acceptsConnections(port, data), {
        timeoutMs: 30_000,
        daemons: [daemon],
      });
    } catch (error) {
      await daemon.kill();
      if (attempt === 3 || !daemon.tail().includes("Address already in use")) throw error;
      continue;
    }
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      pid: daemon.pid,
      async stop() {
        // SIGQUIT also ends the server's children, at once and without writing. SIGKILL would leave shared memory
        // behind.
        await daemon.kill("SIGQUIT");
        rmSync(dir, { recursive: true, force: true });
      },
    };
  }
}

async function initialize(bin: string, data: string, owner: { uid: number; gid: number } | undefined) {
  const user = owner ? [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups"] : [];
  const args = [
    "-D",
    data,
    "-U",
    "postgres",
    "--auth=trust",
    "--no-sync",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
  ];
  await run("setpriv", [...user, "--", join(bin, "initdb"), ...args], { cwd: dirname(data) });
}

/** Major version of Debian's newest PostgreSQL server; undefined: none is installed. */
export function debianVersion(): string | undefined {
  const versions = existsSync(debianRoot) ? readdirSync(debianRoot) : [];
  return versions
    .filter((version) => existsSync(join(debianRoot, version, "bin", "initdb")))
    .sort((a, b) => Number(b) - Number(a))[0];
}

/** The folder of the server programs; they are not on PATH. Debian's newest version, unless `wanted` names another. */
export function serverPrograms(wanted = process.env.PLOSIVE_TEST_POSTGRES): string {
  const debian = debianVersion();
  if (wanted !== undefined && wanted !== debian) {
    const bin = join(installedRoot(), wanted, "bin");
    if (!existsSync(join(bin, "initdb")))
      throw new Error(
        `Postgres ${wanted} is not installed (looked at ${bin}): run \`tools/deps.sh postgres ${wanted}\``,
      );
    return bin;
  }
  if (debian === undefined)
    throw new Error(
      `no PostgreSQL server below ${debianRoot}: run \`make deps\` (Debian package postgresql)`,
    );
  return join(debianRoot, debian, "bin");
}

const debianRoot = "/usr/lib/postgresql";

/** Where tools/deps.sh installs further versions: root's home is closed to the user that runs the server for root. */
const installedRoot = () =>
  process.getuid?.() === 0 ? "/var/cache/plosive/postgres" : join(cacheDir, "postgres");

/** The package's user, if this process runs as root: PostgreSQL refuses to run as root. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith("postgres:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

/** Writes a file that only the server's user may read. Returns its path. */
export function writeForServer(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 });
  const owner = unprivilegedUser();
  if (owner) chownSync(path, owner.uid, owner.gid);
  return path;
}

/**
 * postmaster.pid contains "ready" after the recovery from a crash, but in a recovery from an archive as soon as the server answers
 * queries. The connection proves that the port belongs to this server.
 */
async function acceptsConnections(port: number, data: string): Promise<boolean> {
  if (!readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[7]?.startsWith("ready")) return false;
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
