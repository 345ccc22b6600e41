// A database and an object store as a company runs them: TLS with certificates of the company's own authority, pgbouncer in front
// of Postgres, buckets as host names. Called by drill.test.ts.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { startPgbouncer } from "../../tools/pgbouncer.ts";
import { writeForServer } from "../../tools/postgres.ts";
import { makeBucket, type S3Server, startS3 } from "../../tools/s3.ts";
import { resolveBelow } from "../../tools/testing/resolve.ts";
import { makeCertificate } from "../support/receiver.ts";
import { bucket, type Database, logins, passwords, startDatabase, type Tls } from "./servers.ts";

/** The cluster's DNS has the names below it: the bucket is a Service in the namespace `s3`. */
const storeDomain = "s3.svc.cluster.local";

export interface Company {
  readonly tls: Tls;
  readonly address: string;
  startDatabase(dir: string): Promise<Database>;
  startStore(dir: string): Promise<S3Server>;
  /** The address for programs that do not know the cluster's names. */
  reachable(endpoint: string): string;
}

/** `address`: where the servers listen, so that the pods of the cluster reach them. */
export function makeCompany(folder: string, address: string): Company {
  const certificate = makeCertificate(address, `${bucket}.${storeDomain}`, storeDomain);
  const write = (name: string, text: string) => writeForServer(join(folder, name), text);
  const tls = {
    ca: write("ca.crt", certificate.ca),
    cert: write("public.crt", certificate.cert),
    key: write("private.key", certificate.key),
  };
  chmodSync(tls.ca, 0o644);
  // MinIO takes every file of the folder for a certificate.
  const certificates = join(folder, "minio");
  mkdirSync(certificates);
  writeFileSync(join(certificates, "public.crt"), certificate.cert);
  writeFileSync(join(certificates, "private.key"), certificate.key, { mode: 0o600 });
  // The clients of the tests are clients of the company.
  setDefaultCACertificates([...getCACertificates("default"), certificate.ca]);
  resolveBelow(storeDomain, address);
  const reachable = (endpoint: string) => endpoint.replace(storeDomain, address);
  return { tls, address, startDatabase: start, startStore, reachable };

  async function start(dir: string): Promise<Database> {
    const settings = { ssl: "on", ssl_cert_file: tls.cert, ssl_key_file: tls.key };
    const database = await startDatabase(join(dir, "server"), address, settings);
    const users = Object.keys(logins) as (keyof typeof logins)[];
    const pooler = await startPgbouncer({
      ...{ dir: join(dir, "pooler"), address, tls },
      server: { host: address, port: database.port },
      passwords: Object.fromEntries(users.map((user) => [logins[user], passwords[user]])),
    }).catch(async (error: unknown) => {
      await database.stop();
      throw error;
    });
    return {
      ...database,
      urlOf: (user) =>
        `postgres://${logins[user]}:${passwords[user]}@${address}:${pooler.port}/plosive?sslmode=verify-full`,
      async stop() {
        await pooler.stop();
        await database.stop();
      },
    };
  }

  async function startStore(dir: string): Promise<S3Server> {
    const server = await startS3({
      ...{ dir, address, certificates, domain: storeDomain },
      ...{ program: "minio", addressing: "virtual" },
    });
    await makeBucket(server, bucket);
    return server;
  }
}

/** The bucket's name in the cluster's DNS: a Service without pods. */
export const bucketService = ({ address }: Company): object[] => {
  const metadata = { name: bucket, namespace: "s3" };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "s3" } },
    { apiVersion: "v1", kind: "Service", metadata, spec: { clusterIP: "None" } },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": bucket } },
      addressType: "IPv4",
      endpoints: [{ addresses: [address] }],
    },
  ];
};
