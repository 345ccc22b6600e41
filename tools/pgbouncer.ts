// A real pgbouncer (Debian's) in front of a Postgres server, with sessions (`pool_mode = session`) as docs/install.md asks for.
// Called by tests of the pool, by the drill, and by the tests' servers if PLOSIVE_TEST_POOLER=pgbouncer.
import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { unprivilegedUser, writeForServer } from "./postgres.ts";
import { freePorts, startDaemon, waitUntil } from "./process.ts";

const program = "/usr/sbin/pgbouncer";

export interface Pooler {
  readonly port: number;
  stop(): Promise<void>;
}

export interface PoolerOptions {
  /** A folder that the user of Postgres may enter. */
  readonly dir: string;
  readonly address: string;
  /** The server; its name is checked if `tls` is given. */
  readonly server: { readonly host: string; readonly port: number };
  /** Passwords by user. Without them, every user of the server may connect without a password. */
  readonly passwords?: Readonly<Record<string, string>>;
  /** Files in PEM, for connections on both sides. Without them, connections are not encrypted. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  /** Further settings. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function startPgbouncer(options: PoolerOptions): Promise<Pooler> {
  const { dir, address, server, passwords, tls, settings = {} } = options;
  if (!existsSync(program))
    throw new Error(`${program} is missing: run \`make test-deps\` (Debian package pgbouncer)`);
  mkdirSync(dir, { recursive: true });
  const owner = unprivilegedUser();
  const write = (name: string, text: string) => writeForServer(join(dir, name), text);
  const users = Object.entries(passwords ?? { postgres: "" });
  const [port = 0] = await freePorts(1);
  const all: Record<string, string> = {
    listen_addr: address,
    listen_port: String(port),
    unix_socket_dir: "",
    pool_mode: "session",
    max_client_conn: "1000",
    default_pool_size: "200",
    auth_file: write("users.txt", users.map(([name, password]) => `"${name}" "${password}"\n`).join("")),
    ...(passwords === undefined
      ? {
          ...{ auth_type: "trust", auth_user: "postgres" },
          auth_query: "select usename, passwd from pg_shadow where usename = $1",
        }
      : { auth_type: "scram-sha-256" }),
    ...(tls && {
      client_tls_sslmode: "require",
      client_tls_cert_file: tls.cert,
      client_tls_key_file: tls.key,
      server_tls_sslmode: "verify-full",
      server_tls_ca_file: tls.ca,
    }),
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const config = write(
    "pgbouncer.ini",
    ["[databases]", `* = host=${server.host} port=${server.port}`, "[pgbouncer]", ...lines, ""].join("\n"),
  );
  chmodSync(dir, 0o755);
  const daemon = startDaemon({
    name: "pgbouncer",
    command: program,
    args: [config],
    log: join(dir, "pgbouncer.log"),
    cwd: dir,
    uid: owner?.uid,
    gid: owner?.gid,
  });
  try {
    await waitUntil("pgbouncer to accept connections", () => accepts(address, port), {
      timeoutMs: 30_000,
      daemons: [daemon],
    });
  } catch (error) {
    await daemon.kill();
    throw error;
  }
  return {
    port,
    async stop() {
      await daemon.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const accepts = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
