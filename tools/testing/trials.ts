// The long trials of `make trials`: a flat list. The table in CONTRIBUTING.md has the same rows;
// test/tools/testing/trials.test.ts compares them. Called by tools/trials.ts.
import { repoDir } from "../cache.ts";
import { check, pytestRun, type Suite, vitestRun } from "./suites.ts";

export interface Trial extends Suite {
  /** The part that `make test` runs. */
  readonly slice: string;
  /** What a run without a fault proves. */
  readonly proves: string;
  /** Expected on two cores. */
  readonly minutes: number;
}

const node = process.execPath;
type Given = Omit<Trial, "lane" | "limitMinutes">;
const trial = (given: Given): Trial => ({ ...given, lane: "trials", limitMinutes: 4 * given.minutes + 10 });

const inVitest = (given: Omit<Given, "commands">, ...files: string[]): Trial =>
  trial({
    ...given,
    commands: (report) => [
      vitestRun(report, "--project=real", ...files.map((file) => `test/${file}.test.ts`)),
    ],
  });

export const trials: readonly Trial[] = [
  inVitest(
    {
      name: "kill-api",
      title: "The API killed before each of its calls to Postgres and S3",
      proves: "A request leaves all or nothing, and repeating it doubles nothing.",
      slice: "every tenth call",
      minutes: 4,
    },
    "hostile/kill",
  ),
  inVitest(
    {
      name: "kill-ingest",
      title: "The operator killed between the statements of an ingest",
      proves: "A result is ingested whole or not at all, however often it is delivered.",
      slice: "every third statement",
      minutes: 2,
    },
    "hostile/ingest-kill",
  ),
  inVitest(
    {
      name: "sequences",
      title: "Random sequences of concurrent clients and of results",
      proves:
        "Published sets never change, no answered write is lost, each shard counts once, no request gets a 5xx.",
      slice: "a quarter of the sequences",
      minutes: 5,
    },
    "hostile/sequences",
    "hostile/result-sequences",
    "hostile/everything-at-once",
    "hostile/imports",
  ),
  inVitest(
    {
      name: "kill-operator",
      title:
        "The leading operator killed at 300 writes while jobs of all kinds run, some of them suspended or applied with kubectl",
      proves: "No Job runs twice, and no end of a job is lost or changed.",
      slice: "6 writes",
      minutes: 20,
    },
    "hostile/operator-kill",
  ),
  inVitest(
    {
      name: "outages",
      title:
        "Postgres, the object store and the API server unavailable for minutes, and etcd restarted, under load",
      proves: "Nothing is lost or doubled, and the operator catches up within a minute of the recovery.",
      slice: "one of the four, for seconds",
      minutes: 30,
    },
    "controllers/outages",
  ),
  trial({
    name: "fuzz",
    title: "2,000 mutated audio files and decompression bombs",
    proves: "Every upload is decoded or fails with a clear reason, in time; the worker continues.",
    slice: "200 files",
    minutes: 3,
    commands: (report) => [pytestRun(report, ["test/worker/test_fuzz.py"])],
  }),
  trial({
    name: "detection",
    title: "A training and three test rows against the recorded figures",
    proves: "Macro F1 and false alarms stay within their margins.",
    slice: "with smaller batches",
    minutes: 6,
    commands: (report) => [pytestRun(report, ["test/bench/detection/test_short.py"])],
  }),
  trial({
    name: "contract",
    title: "schemathesis over the whole REST description for ten minutes",
    proves: "No request in or beside the description causes a 5xx or an answer that it does not describe.",
    slice: "75 seconds",
    minutes: 11,
    commands: () => [check("schemathesis", node, "tools/contract/schemathesis.ts", "--seconds=600")],
  }),
  trial({
    name: "soak",
    title: "Caches and leader election over hundreds of watch renewals",
    proves: "Sockets and heap do not grow; an event after idle time is not late.",
    slice: "40 seconds",
    minutes: 31,
    commands: () => [
      check("soak", node, "--expose-gc", "test/chaos/soak.ts", "--minutes=20", "--idle-minutes=10"),
    ],
  }),
  trial({
    name: "drill",
    title:
      "With a company's database, pooler, object store and authority: an installation, a GPU pool under Kueue, the database back to an earlier moment, a new installation, and a restore on an empty cluster, while jobs run",
    proves: "Every row and every object is there again, and each job ends once.",
    slice: "nothing",
    minutes: 15,
    commands: (report) => [
      check("programs", "bash", `${repoDir}/tools/deps.sh`, "drill"),
      check("tools", "bash", `${repoDir}/tools/build.sh`, "minio"),
      check("images", node, "tools/images/main.ts", "build"),
      vitestRun(report, "--config", `${repoDir}/test/drill/vitest.config.ts`, "drill.test", "backup.test"),
    ],
  }),
  trial({
    name: "upgrade",
    title: "An upgrade from the release before, a rollback, and the upgrade again, while jobs run",
    proves: "Each job ends once, with the same detections, and no label is lost.",
    slice: "nothing",
    minutes: 15,
    commands: (report) => [
      check("images", node, "tools/images/main.ts", "build"),
      vitestRun(report, "--config", `${repoDir}/test/drill/vitest.config.ts`, "upgrade.test"),
    ],
  }),
  trial({
    name: "alerts",
    title: "Every alert, provoked by a fault of an installation",
    proves: "Each alert fires for its fault, its remedy ends it, and no other alert fires.",
    slice: "nothing",
    minutes: 20,
    commands: (report) => [
      check("images", node, "tools/images/main.ts", "build"),
      vitestRun(report, "--config", `${repoDir}/test/alerts/vitest.config.ts`),
    ],
  }),
  trial({
    name: "release",
    title:
      "A release built from a tag, falsified, built again, pushed, and installed from the registry by digest",
    proves:
      "The verifier notices one flipped byte in any file, images of the API and the workers have the same layers when they are built again, images for the other architecture run in QEMU, and the signatures hold.",
    slice: "nothing",
    minutes: 40,
    commands: (report) => [
      check("programs", "bash", `${repoDir}/tools/deps.sh`, "foreign", "amd64,arm64"),
      check("tools", "bash", `${repoDir}/tools/build.sh`, "cosign", "syft", "crane"),
      check("images", node, "tools/images/main.ts", "build"),
      check("foreign images", "env", "PLOSIVE_ARCHITECTURE=arm64", node, "tools/images/main.ts", "build"),
      vitestRun(report, "--config", `${repoDir}/test/release/vitest.config.ts`),
    ],
  }),
];
