// vitest's globalSetup of the project "real": one Postgres and one S3 server for the whole run, on free ports.
// Test files get them by inject("postgresUrl") and inject("s3"), mostly through test/support/{postgres,s3}.ts.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../../tools/postgres.ts";
import { startS3 } from "../../tools/s3.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Superuser address, e.g. postgres://postgres@127.0.0.1:5433/postgres; make a database of your own in it. */
    postgresUrl: string;
    /** Path-style S3 without buckets; make one of your own in it. */
    s3: { endpoint: string; region: string; accessKey: string; secretKey: string };
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Not below $TMPDIR: Postgres runs as its own user and must be able to pass every folder above its data.
  const dir = mkdtempSync("/tmp/plosive-test-");
  chmodSync(dir, 0o755);
  const [postgres, s3] = await Promise.all([
    startPostgres({ dir: join(dir, "postgres") }),
    startS3({ dir: join(dir, "s3") }),
  ]);
  project.provide("postgresUrl", postgres.url);
  project.provide("s3", {
    endpoint: s3.endpoint,
    region: s3.region,
    accessKey: s3.accessKey,
    secretKey: s3.secretKey,
  });
  return async () => {
    await Promise.all([postgres.stop(), s3.stop()]);
    rmSync(dir, { recursive: true, force: true });
  };
}
