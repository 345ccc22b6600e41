// The suites of `make compat`: parts of the project "real" against other versions of what Plosive runs on, and in another
// browser. A flat list; the
// table in docs/install.md has the same rows, which test/tools/testing/compat.test.ts compares. Called by tools/compat.ts and
// tools/test.ts.
import { repoDir } from "../cache.ts";
import { debianVersion } from "../postgres.ts";
import { check, type Suite, vitestRun } from "./suites.ts";

export interface Compatibility extends Suite {
  /** What the tests run against. */
  readonly subject: string;
  /** The tests, as vitest selects them. */
  readonly tests: readonly string[];
  /** Expected on two cores. */
  readonly minutes: number;
}

type Given = Pick<Compatibility, "name" | "subject" | "tests" | "minutes"> & {
  /** Builds or installs the subject: a script and its arguments. */
  readonly install: readonly string[];
  /** Makes the tests use the subject. */
  readonly env: Record<string, string>;
};

const compatibility = ({ name, subject, tests, minutes, install, env }: Given): Compatibility => ({
  name,
  subject,
  tests,
  minutes,
  title: `${subject}: ${tests.join(", ")}`,
  lane: "compat",
  // The first run builds the subject.
  limitMinutes: 4 * minutes + 30,
  commands: (report) => [
    check("install", "bash", ...install),
    { ...vitestRun(report, "--project=real", ...tests, versions), env },
  ],
});

/** Proves that the servers and the browser are those of `env`. */
const versions = "test/tools/testing/versions";

const onPostgres = (major: string): Compatibility =>
  compatibility({
    name: `postgres-${major}`,
    subject: `Postgres ${major}`,
    tests: ["test/db", "test/api", "test/hostile", "test/webhooks", "test/admin", "test/bootstrap"],
    minutes: 9,
    install: [`${repoDir}/tools/deps.sh`, "postgres", major],
    env: { PLOSIVE_TEST_POSTGRES: major },
  });

/** MinIO shares no code with versitygw, the embedded object store. */
const onMinio = (addressing: "path" | "virtual", ...tests: string[]): Compatibility =>
  compatibility({
    name: `s3-${addressing}`,
    subject: addressing === "path" ? "MinIO, path style" : "MinIO, virtual-host style",
    tests,
    minutes: addressing === "path" ? 5 : 1,
    install: [`${repoDir}/tools/build.sh`, "minio"],
    env: {
      PLOSIVE_TEST_S3: "minio",
      PLOSIVE_TEST_S3_ADDRESSING: addressing,
      // Buckets are names below localhost.
      ...(addressing === "virtual" && {
        NODE_OPTIONS: `--import=file://${repoDir}/tools/testing/localhost.ts`,
      }),
    },
  });

export const compat: readonly Compatibility[] = [
  onPostgres("15"),
  onPostgres("18"),
  compatibility({
    name: "pgbouncer",
    subject: "Postgres 15 behind pgbouncer of Debian 12, with sessions",
    tests: ["test/db", "test/api", "test/webhooks", "test/admin", "test/bootstrap"],
    minutes: 9,
    install: [`${repoDir}/tools/deps.sh`, "test"],
    env: { PLOSIVE_TEST_POOLER: "pgbouncer" },
  }),
  compatibility({
    name: "kubernetes-1.31",
    subject: "Kubernetes 1.31",
    tests: ["test/controllers", "test/schemas/crd", "test/kube", "test/charts/upgrade"],
    minutes: 8,
    install: [`${repoDir}/tools/build.sh`, "kubernetes-1.31"],
    env: { PLOSIVE_TEST_KUBERNETES: "1.31" },
  }),
  onMinio(
    "path",
    "test/storage",
    "test/api",
    "test/uploads",
    "test/hostile/uploads",
    "test/hostile/store-outage",
    "test/controllers/purge-queue",
  ),
  onMinio(
    "virtual",
    "test/storage",
    "test/api/upload",
    "test/api/exports",
    "test/api/inference",
    "test/hostile/uploads",
  ),
  compatibility({
    name: "firefox",
    subject: "Firefox ESR of Debian",
    tests: [
      "test/web/dashboard",
      "test/web/editor.test",
      "test/web/hostile-strings",
      "test/web/judging",
      "test/web/proxy",
      "test/web/sign-in",
      "test/web/strangers",
      "test/web/uploads-page",
    ],
    minutes: 6,
    install: [`${repoDir}/tools/deps.sh`, "firefox"],
    env: { PLOSIVE_TEST_BROWSER: "firefox" },
  }),
];

/** The suites that `make test` does not cover already: it runs on Debian's Postgres. */
export const uncovered = () => compat.filter(({ name }) => name !== `postgres-${debianVersion()}`);
