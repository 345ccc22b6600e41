// vitest's globalSetup of the projects "real" and "kueue": one Postgres, one S3 server and one control plane for the whole
// run. `make check` uses those that `make dev-up` keeps. Test files get them through test/support/{postgres,s3,kube}.ts.
import type { TestProject } from "vitest/node";
import { findDevServers, startServers, type TestServers } from "../../tools/testing/servers.ts";

declare module "vitest" {
  export interface ProvidedContext {
    servers: TestServers;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const kept = process.env.PLOSIVE_TEST_SUITE === undefined ? findDevServers() : undefined;
  if (kept !== undefined) {
    project.provide("servers", kept);
    return undefined;
  }
  const { postgresUrl, s3, planeFile, stop } = await startServers();
  const { endpoint, addressing, region, accessKey, secretKey } = s3;
  const access = { endpoint, addressing, region, accessKey, secretKey };
  project.provide("servers", { postgresUrl, s3: access, planeFile });
  return stop;
}
