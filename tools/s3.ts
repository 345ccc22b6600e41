// A real S3 server for tests: versitygw over a folder, on a free loopback port, gone at stop().
// Called by tests, benchmarks and contract checks; the chart's embedded S3 is the same program (images/s3).
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

/** A bucket of the server as API and operator are told of it. */
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

/** The same, once it is there. */
export async function makeBucket(server: S3Server, name: string): Promise<StorageConfig> {
  const config = bucketOf(server, name);
  const storage = makeStorage(config);
  await storage.ensureBucket();
  storage.close();
  return config;
}

/** Starts the server with buckets as folders below `dir`/buckets. It has no bucket yet; the caller makes them. */
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
      // By environment, so that no other user reads the secret in the process list.
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
