// The servers that tests share: Postgres, S3 and a control plane. test/support/servers.ts starts them for one run of
// vitest; tools/dev.ts keeps them running between runs, so that `make check` does not wait for them.
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { cacheDir, controlPlaneTool } from "../cache.ts";
import { type ControlPlane, startControlPlane } from "../cluster/control-plane.ts";
import { type Pooler, startPgbouncer } from "../pgbouncer.ts";
import { type PostgresServer, serverPrograms, startPostgres } from "../postgres.ts";
import { type S3Access, type S3Server, s3Tool, startS3 } from "../s3.ts";
import { processesWith } from "./leftovers.ts";

/** The part of a control plane that tests may share: none of them stops or reconfigures it. */
export type SharedPlane = Pick<ControlPlane, "kubeconfigPath" | "server" | "tls">;

export interface TestServers {
  /** Address of the superuser, e.g. postgres://postgres@127.0.0.1:5433/postgres. */
  readonly postgresUrl: string;
  /** S3 without buckets. */
  readonly s3: S3Access;
  /** File with a SharedPlane as JSON; it appears once the control plane is ready. */
  readonly planeFile: string;
}

export interface RunningServers extends TestServers {
  /** Resolves when the control plane is ready. Most test files do not wait for it. */
  readonly plane: Promise<unknown>;
  stop(): Promise<void>;
}

export async function startServers(): Promise<RunningServers> {
  // Not below $TMPDIR: Postgres runs as a user of its own, which must be able to enter every folder above its data.
  const dir = mkdtempSync("/tmp/plosive-test-");
  chmodSync(dir, 0o755);
  const planeFile = join(dir, "plane.json");
  let postgres: PostgresServer | undefined;
  let pooler: (Pooler & { readonly url: string }) | undefined;
  let s3: S3Server | undefined;
  const plane = startControlPlane({ dir: join(dir, "plane"), withControllerManager: true }).then(
    (started) => {
      const { kubeconfigPath, server, tls } = started;
      writeWhole(planeFile, { kubeconfigPath, server, tls } satisfies SharedPlane);
      return started;
    },
  );
  plane.catch((error: unknown) => writeWhole(planeFile, { error: String(error) }));
  const stop = async () => {
    await pooler?.stop();
    await Promise.all([
      postgres?.stop(),
      s3?.stop(),
      plane.then(
        (started) => started.stop(),
        () => undefined,
      ),
    ]);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    [postgres, s3] = await Promise.all([
      startPostgres({ dir: join(dir, "postgres") }),
      startS3({ dir: join(dir, "s3") }),
    ]);
    if (hasPooler()) pooler = await startPooler(postgres.url, join(dir, "pooler"));
  } catch (error) {
    await stop();
    throw error;
  }
  return { postgresUrl: pooler?.url ?? postgres.url, s3, planeFile, plane, stop };
}

export const hasPooler = () => process.env.PLOSIVE_TEST_POOLER === "pgbouncer";

async function startPooler(postgresUrl: string, dir: string): Promise<Pooler & { readonly url: string }> {
  const url = new URL(postgresUrl);
  const server = { host: url.hostname, port: Number(url.port) };
  // A connection that waits for its next user would keep a template database from being copied, or a database from being dropped.
  const settings = { server_lifetime: "0" };
  const pooler = await startPgbouncer({ dir, address: "127.0.0.1", server, settings });
  url.port = String(pooler.port);
  return { ...pooler, url: url.href };
}

/** A reader sees nothing or the whole file. */
function writeWhole(path: string, value: object): void {
  writeFileSync(`${path}.new`, JSON.stringify(value));
  renameSync(`${path}.new`, path);
}

/** The servers that `make dev-up` keeps. Every process of them has this variable. */
export const devMark = { name: "PLOSIVE_DEV", value: cacheDir };
const stateFile = join(cacheDir, "dev-servers.json");

interface DevState extends TestServers {
  /** Of the binaries: servers of another version are not used. */
  readonly version: string;
}

export function keepState({ postgresUrl, s3, planeFile }: TestServers): void {
  const { endpoint, addressing, region, accessKey, secretKey } = s3;
  const state = {
    postgresUrl,
    s3: { endpoint, addressing, region, accessKey, secretKey },
    planeFile,
    version: version(),
  };
  writeFileSync(stateFile, "", { mode: 0o600 });
  writeWhole(stateFile, state satisfies DevState);
}

export const dropState = () => rmSync(stateFile, { force: true });

/** The kept servers if they run and have the wanted versions. */
export function findDevServers(): TestServers | undefined {
  try {
    const state = JSON.parse(readFileSync(stateFile, "utf8")) as DevState;
    const isRunning = processesWith(devMark.name, devMark.value).length > 0;
    return isRunning && state.version === version() ? state : undefined;
  } catch {
    return undefined;
  }
}

function version(): string {
  const paths = [controlPlaneTool("etcd"), controlPlaneTool("kube-apiserver"), s3Tool()];
  const programs = paths.map((path) => realpathSync(path));
  return createHash("sha256")
    .update(
      [
        ...programs,
        serverPrograms(),
        process.env.PLOSIVE_TEST_S3_ADDRESSING,
        process.env.PLOSIVE_TEST_POOLER,
      ].join("\n"),
    )
    .digest("hex");
}
