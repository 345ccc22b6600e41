// A real S3 server for tests: versitygw on a folder and a free loopback port; stop() deletes it. Called by tests,
// benchmarks and contract checks. The chart's embedded S3 is the same program (images/s3). PLOSIVE_TEST_S3=minio starts
// MinIO instead (tools/build.sh minio); PLOSIVE_TEST_S3_ADDRESSING=virtual makes its clients use virtual-host style.
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Addressing } from "../src/storage/addressing.ts";
import { makeStorage, type StorageConfig } from "../src/storage/storage.ts";
import { tool } from "./cache.ts";
import { freePorts, startDaemon, waitUntil } from "./process.ts";

export interface S3Access {
  readonly endpoint: string;
  readonly addressing: Addressing;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface S3Server extends S3Access {
  readonly pid: number;
  stop(): Promise<void>;
}

/** The configuration of API and operator for a bucket, with keys. */
export type BucketConfig = StorageConfig & {
  readonly PLOSIVE_S3_ACCESS_KEY_ID: string;
  readonly PLOSIVE_S3_SECRET_ACCESS_KEY: string;
};

export function bucketOf(
  { endpoint, addressing, region, accessKey, secretKey }: S3Access,
  name: string,
): BucketConfig {
  return {
    PLOSIVE_S3_ENDPOINT: endpoint,
    PLOSIVE_S3_ADDRESSING: addressing,
    PLOSIVE_S3_REGION: region,
    PLOSIVE_S3_BUCKET: name,
    PLOSIVE_S3_ACCESS_KEY_ID: accessKey,
    PLOSIVE_S3_SECRET_ACCESS_KEY: secretKey,
  };
}

/** Creates a bucket and returns its configuration. */
export async function makeBucket(server: S3Server, name: string): Promise<BucketConfig> {
  const config = bucketOf(server, name);
  const storage = makeStorage(config);
  await storage.ensureBucket();
  storage.close();
  return config;
}

type Make = "versitygw" | "minio";

const make = z.enum(["versitygw", "minio"]).default("versitygw");
const addressingOf = z.enum(["path", "virtual"]).default("path");

/** Names the program that PLOSIVE_TEST_S3 asks for. */
export const s3Program = (): Make => make.parse(process.env.PLOSIVE_TEST_S3);

/** The path of that program. */
export const s3Tool = (name = s3Program()) =>
  name === "minio" ? tool(name, "tools/build.sh minio") : tool(name);

export interface S3Options {
  /** Its data are below `dir`/buckets. */
  readonly dir: string;
  /** Where it listens. */
  readonly address?: string;
  readonly program?: Make;
  readonly addressing?: Addressing;
  /** Of the buckets in virtual-host style. tools/testing/resolve.ts resolves such names. */
  readonly domain?: string;
  /** A folder with public.crt and private.key: MinIO then speaks TLS. */
  readonly certificates?: string;
}

/** Starts the server without buckets; the caller creates them. */
export async function startS3({
  dir,
  address = "127.0.0.1",
  program: name = s3Program(),
  addressing = addressingOf.parse(process.env.PLOSIVE_TEST_S3_ADDRESSING),
  domain = "localhost",
  certificates,
}: S3Options): Promise<S3Server> {
  const buckets = join(dir, "buckets");
  mkdirSync(buckets, { recursive: true });
  const scheme = certificates === undefined ? "http" : "https";
  const access = {
    addressing,
    accessKey: `test-${randomBytes(6).toString("hex")}`,
    secretKey: randomBytes(24).toString("base64url"),
    region: "us-east-1",
  };
  for (let attempt = 1; ; attempt++) {
    const [port = 0] = await freePorts(1);
    const { args, env, healthPath } = commandLine[name](`${address}:${port}`, buckets, {
      ...access,
      domain,
      certificates,
    });
    const daemon = startDaemon({
      name,
      command: s3Tool(name),
      args,
      log: join(dir, `${name}.log`),
      // In the environment, so that other users cannot read the secret in the process list.
      env: { ...process.env, ...env },
    });
    const stop = async () => {
      await daemon.kill();
      rmSync(dir, { recursive: true, force: true });
    };
    try {
      const healthy = async () => (await fetch(`${scheme}://${address}:${port}${healthPath}`)).ok;
      await waitUntil("the S3 server to answer", healthy, { timeoutMs: 30_000, daemons: [daemon] });
      const host = addressing === "virtual" ? domain : address;
      return { endpoint: `${scheme}://${host}:${port}`, ...access, pid: daemon.pid, stop };
    } catch (error) {
      await daemon.kill();
      if (attempt === 3 || !daemon.tail().includes("address already in use")) throw error;
    }
  }
}

type Started = { args: readonly string[]; env: Record<string, string>; healthPath: string };

const commandLine: Record<
  Make,
  (
    listen: string,
    data: string,
    options: Omit<S3Access, "endpoint"> & {
      readonly domain: string;
      readonly certificates: string | undefined;
    },
  ) => Started
> = {
  versitygw: (listen, data, { region, accessKey, secretKey }) => ({
    args: [`--port=${listen}`, `--region=${region}`, "--health=/health", "--quiet", "posix", data],
    env: { ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey },
    healthPath: "/health",
  }),
  minio: (listen, data, { region, accessKey, secretKey, domain, certificates }) => ({
    args: [
      ...["server", "--quiet", `--address=${listen}`],
      ...(certificates === undefined ? [] : [`--certs-dir=${certificates}`]),
      data,
    ],
    env: {
      MINIO_ROOT_USER: accessKey,
      MINIO_ROOT_PASSWORD: secretKey,
      MINIO_SITE_REGION: region,
      MINIO_DOMAIN: domain,
      MINIO_BROWSER: "off",
      MINIO_UPDATE: "off",
    },
    healthPath: "/minio/health/ready",
  }),
};
