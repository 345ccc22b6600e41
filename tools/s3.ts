// A real S3 server for tests: versitygw on a folder and a free loopback port; stop() deletes it. Called by tests,
// benchmarks and contract checks. The chart's embedded S3 is the same program (images/s3).
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeStorage, type StorageConfig } from "../src/storage/storage.ts";
import { tool } from "./cache.ts";
import { freePorts, startDaemon, waitUntil } from "./process.ts";

export interface S3Server {
  /** Path-style addressing: <endpoint>/<bucket>/<key> (the client's forcePathStyle). */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** The configuration of API and operator for a bucket of the server. */
export function bucketOf(
  { endpoint, region, accessKey, secretKey }: Omit<S3Server, "pid" | "stop">,
  name: string,
): StorageConfig {
  return {
    PLOSIVE_S3_ENDPOINT: endpoint,
    PLOSIVE_S3_REGION: region,
    PLOSIVE_S3_BUCKET: name,
    PLOSIVE_S3_ACCESS_KEY_ID: accessKey,
    PLOSIVE_S3_SECRET_ACCESS_KEY: secretKey,
  };
}

/** Creates a bucket and returns its configuration. */
export async function makeBucket(server: S3Server, name: string): Promise<StorageConfig> {
  const config = bucketOf(server, name);
  const storage = makeStorage(config);
  await storage.ensureBucket();
  storage.close();
  return config;
}

/** Starts the server without buckets; the caller creates them. Buckets are folders below `dir`/buckets. */
export async function startS3({ dir }: { dir: string }): Promise<S3Server> {
  const buckets = join(dir, "buckets");
  mkdirSync(buckets, { recursive: true });
  const accessKey = `test-${randomBytes(6).toString("hex")}`;
  const secretKey = randomBytes(24).toString("base64url");
  const region = "us-east-1";
  for (let attempt = 1; ; attempt++) {
    const [port = 0] = await freePorts(1);
    const endpoint = `http://127.0.0.1:${port}`;
    const daemon = startDaemon({
      name: "versitygw",
      command: tool("versitygw"),
      args: [
        `--port=127.0.0.1:${port}`,
        `--region=${region}`,
        "--health=/health",
        "--quiet",
        "posix",
        buckets,
      ],
      log: join(dir, "versitygw.log"),
      // In the environment, so that other users cannot read the secret in the process list.
      env: { ...process.env, ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey },
    });
    const stop = async () => {
      await daemon.kill();
      rmSync(dir, { recursive: true, force: true });
    };
    try {
      const healthy = async () => (await fetch(`${endpoint}/health`)).ok;
      await waitUntil("the S3 server to answer", healthy, { timeoutMs: 30_000, daemons: [daemon] });
      return { endpoint, region, accessKey, secretKey, pid: daemon.pid, stop };
    } catch (error) {
      await daemon.kill();
      if (attempt === 3 || !daemon.tail().includes("address already in use")) throw error;
    }
  }
}
