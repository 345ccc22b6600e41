// Installs the service as docs/install.md says, with a company's servers. Called by drill.test.ts.
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repoDir } from "../../tools/cache.ts";
import { kubectl } from "../../tools/chart.ts";
import type { ClusterPlace } from "../../tools/cluster/place.ts";
import { chartImages, referenceOf } from "../../tools/images/images.ts";
import type { S3Server } from "../../tools/s3.ts";
import { blockOf, blocksOf } from "../support/documents.ts";
import { bucketService, type Company } from "./company.ts";
import { bash, follow, type Reader, replaced } from "./guide.ts";
import { type Database, passwords } from "./servers.ts";
import { targetOf } from "./service.ts";

const guide = "docs/install.md";

/** What the database's administrator runs. */
export async function createRoles({ query }: Database): Promise<void> {
  const [statements = ""] = blocksOf(guide, "## 3. Database and object store", "sql");
  await query(replaced(statements, { PASSWORD2: passwords.api, PASSWORD3: passwords.operator }));
}

/** What stands before `helm install`. */
export async function prepareCluster(
  reader: Reader,
  place: ClusterPlace,
  { company, database, store }: { company: Company; database: Database; store: S3Server },
): Promise<void> {
  const objects = { apiVersion: "v1", kind: "List", items: bucketService(company) };
  kubectl({ ...targetOf(place), namespace: "s3" }, ["apply", "-f", "-"], JSON.stringify(objects));
  await follow(reader, guide, "kubectl create namespace plosive");
  await follow(reader, guide, "kubectl -n plosive create secret", {
    "postgres://OWNER:PASSWORD@HOST:5432/plosive": database.urlOf("owner"),
    "postgres://plosive_api_login:PASSWORD2@HOST:5432/plosive": database.urlOf("api"),
    "postgres://plosive_operator_login:PASSWORD3@HOST:5432/plosive": database.urlOf("operator"),
    "access-key-id=…": `access-key-id=${store.accessKey}`,
    "secret-access-key=…": `secret-access-key=${store.secretKey}`,
  });
  // `folder` has the authority's certificate under this name.
  await follow(reader, guide, "kubectl -n plosive create configmap company-authorities");
}

export async function installService(reader: Reader, store: S3Server): Promise<void> {
  writeValues(reader, store);
  const [install = ""] = blockOf(guide, "helm install plosive charts/plosive -n plosive -f").split("\n");
  await bash(reader, install);
}

/** Gives trainings a GPU pool under Kueue's quotas, as docs/queueing.md says. Kueue runs already. */
export async function addGpuPool(reader: Reader, store: S3Server): Promise<void> {
  const queueing = "docs/queueing.md";
  writeFileSync(join(reader.folder, "queues.yaml"), blockOf(queueing, "# queues.yaml", "yaml"));
  // The nodes of the test are smaller than those of the example.
  const small = "{ resources: { requests: { cpu: 100m, memory: 256Mi } } }";
  writeValues(
    reader,
    store,
    `profiles: { default: { train: ${small}, embed: ${small}, detect: ${small} } }\n`,
  );
  await follow(reader, queueing, "kubectl apply -f queues.yaml");
}

/** Goes back to the values of the installation. */
export async function removeGpuPool(reader: Reader, store: S3Server): Promise<void> {
  writeValues(reader, store);
  await bash(reader, "helm upgrade plosive charts/plosive -n plosive -f values.yaml --wait --timeout 10m");
}

/** The reader's values.yaml, beside the chart. */
function writeValues(reader: Reader, { endpoint }: S3Server, more = ""): void {
  const charts = join(reader.folder, "charts");
  if (!existsSync(charts)) symlinkSync(join(repoDir, "charts"), charts);
  const values = blockOf(guide, "# values.yaml", "yaml");
  const images = ["server", "worker", "trainer"] as const;
  const own = replaced(values, {
    ...Object.fromEntries(
      images.map((name) => [`REGISTRY/plosive-${name}:TAG`, referenceOf(chartImages[name])]),
    ),
    ...{ "https://s3.internal.example.com": endpoint, "https://s3.example.com ": `${endpoint} ` },
    "# addressing": "addressing",
  });
  const authorities = blockOf(guide, "caBundle:", "yaml");
  // The test reaches the API through a port of the node.
  const node = "api: { service: { type: NodePort, nodePort: 30080 } }\n";
  writeFileSync(join(reader.folder, "values.yaml"), [own, authorities, node, more].join("\n"));
}
