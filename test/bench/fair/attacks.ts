// What one tenant sends to take resources from the others. Called by main.ts.
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Request, Send } from "./traffic.ts";

export interface Attack {
  readonly name: string;
  readonly connections: number;
  /** Creates what the attack needs, and returns the requests that it sends. */
  readonly prepare: (send: Send, database: Database) => Promise<(nth: number) => Request>;
  /** Begins a condition of the attack, and returns the function that ends it. */
  readonly during?: () => () => void;
}

/** Runs SQL as the owner of the database: some attacks need more rows than their tenant may create in a minute. */
export type Database = (sql: string) => Promise<unknown>;

const types = [{ name: "click" }, { name: "hum" }];

async function created(send: Send, path: string, body: unknown = {}): Promise<string> {
  const answer = await send({ method: "POST", path, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.body.slice(0, 200)}`);
  return JSON.parse(answer.body).id as string;
}

async function draft(send: Send): Promise<{ set: string; dataset: string }> {
  const dataset = await created(send, "/api/v1/datasets", {
    name: `attack ${randomUUID()}`,
    artifact_types: types,
  });
  return {
    dataset,
    set: `/api/v1/datasets/${dataset}/annotation-sets/${await created(send, `/api/v1/datasets/${dataset}/annotation-sets`)}`,
  };
}

const eightMiB = 8 * 1024 * 1024;
const filled = (head: string, piece: string, tail: string) =>
  head +
  piece.repeat(Math.floor((eightMiB - head.length - tail.length) / piece.length)).replace(/,$/, "") +
  tail;

const importOf = (name: string, document: () => string): Attack => ({
  name,
  connections: 12,
  prepare: async (send, database) => {
    const { set, dataset } = await draft(send);
    await database(fileOf(dataset, randomUUID()));
    const body = Buffer.from(document());
    return () => ({ method: "POST", path: `${set}/import/annotation-tool?create_types=true`, body });
  },
});

/** 1,000 labels of a new draft with this data of their own. */
async function bulkOf(send: Send, database: Database, extraData: object) {
  const { set, dataset } = await draft(send);
  const file = randomUUID();
  await database(fileOf(dataset, file));
  const annotation = {
    audio_file_id: file,
    artifact_type: "click",
    start_ms: 1,
    end_ms: 2,
    extra_data: extraData,
  };
  const body = Buffer.from(JSON.stringify({ annotations: Array.from({ length: 1_000 }, () => annotation) }));
  return { set, body };
}

const bulkCreates = (name: string, extraData: object): Attack => ({
  name,
  connections: 12,
  prepare: async (send, database) => {
    const { set, body } = await bulkOf(send, database, extraData);
    return () => ({ method: "POST", path: `${set}/annotations/bulk`, body });
  },
});

const copiesOf = (labels: number): Attack => ({
  name: `copies of a set of ${labels.toLocaleString("en")} labels`,
  connections: 12,
  prepare: async (send, database) => {
    const { set, dataset } = await draft(send);
    const id = set.split("/").at(-1)!;
    await addLabels(database, dataset, id, labels);
    const published = await send({ method: "POST", path: `${set}/publish` });
    if (published.status !== 200) throw new Error(`could not publish: ${published.body}`);
    const body = JSON.stringify({ from_annotation_set_id: id });
    return () => ({ method: "POST", path: `/api/v1/datasets/${dataset}/annotation-sets`, body });
  },
});

const label = `{"id":"x","from_name":"label","to_name":"audio","type":"labels","value":{"start":1.25,"end":1.31,"channel":0,"labels":["click"]},"score":1,"meta":{"extra_data":{"note":"at the end of a word"}}},`;

export const attacks: readonly Attack[] = [
  importOf("imports of 43,000 labels in 8 MB", () =>
    filled('[{"data":{"filename":"a.wav"},"annotations":[{"result":[', label, "]}]}]"),
  ),
  importOf("imports of 8 MB of empty objects", () =>
    filled('[{"data":{"filename":"a.wav"},"annotations":[{"was_cancelled":true,"result":[', "{},", "]}]}]"),
  ),
  importOf("imports of 8 MB of nested lists", () => filled("", "[", "")),
  {
    name: "imports of 40,000 labels at the start of 300,000 others",
    connections: 12,
    prepare: async (send, database) => {
      const { set, dataset } = await draft(send);
      const file = await addLabels(database, dataset, set.split("/").at(-1)!, 300_000, "1000, 1000 + n");
      const labels = Array.from({ length: 40_000 }, (_, n) => `${file},click,1000,${400_000 + n}`);
      const body = `audio_file_id,artifact_type,start_ms,end_ms\n${labels.join("\n")}\n`;
      const path = `${set}/import/csv`;
      return () => ({ method: "POST", path, body, contentType: "text/csv" });
    },
  },
  bulkCreates("bulk creates of 4 MB", { text: "x".repeat(3_900) }),
  bulkCreates("bulk creates of 4 MB of nested lists", { lists: Array.from({ length: 1_300 }, () => []) }),
  {
    name: "bulk updates whose responses of 4 MB nobody reads",
    connections: 150,
    prepare: async (send, database) => {
      const { set, body } = await bulkOf(send, database, { text: "x".repeat(3_900) });
      const made = await send({ method: "POST", path: `${set}/annotations/bulk`, body });
      const { items } = JSON.parse(made.body) as { items: { id: string }[] };
      const changes = JSON.stringify({ annotations: items.map(({ id }) => ({ id })) });
      return () => ({ method: "PATCH", path: `${set}/annotations/bulk`, body: changes, unreadMs: 10_000 });
    },
  },
  {
    name: "lists of 100 datasets with 60 KB of types",
    connections: 12,
    prepare: async (send) => {
      const wide = Array.from({ length: 60 }, (_, n) => ({
        name: `type ${n}`,
        description: "x".repeat(990),
      }));
      for (let n = 0; n < 100; n++)
        await created(send, "/api/v1/datasets", { name: `wide ${n}`, artifact_types: wide });
      return () => ({ method: "GET", path: "/api/v1/datasets?page_size=100" });
    },
  },
  copiesOf(10_000),
  copiesOf(300_000),
  {
    name: "deletions of datasets of 50,000 labels",
    connections: 12,
    prepare: async (send, database) => {
      const paths: string[] = [];
      for (let i = 0; i < 12; i++) {
        const { set, dataset } = await draft(send);
        await addLabels(database, dataset, set.split("/").at(-1)!, 50_000);
        paths.push(`/api/v1/datasets/${dataset}`);
      }
      return (nth) => ({ method: "DELETE", path: paths[nth % paths.length]! });
    },
  },
  {
    name: "confirms while the object store does not answer",
    connections: 12,
    during: pauseStore,
    prepare: async (send) => {
      const { dataset } = await draft(send);
      const path = `/api/v1/datasets/${dataset}/audio`;
      const files = Array.from({ length: 12 }, (_, i) => ({
        filename: `${i}.wav`,
        content_type: "audio/wav",
        size_bytes: 1_000,
      }));
      const made = await send({
        method: "POST",
        path: `${path}/upload-urls`,
        body: JSON.stringify({ files }),
      });
      if (made.status !== 201) throw new Error(`no tickets: ${made.status} ${made.body.slice(0, 200)}`);
      const { items } = JSON.parse(made.body) as { items: { audio_file_id: string }[] };
      return (nth) => ({
        method: "POST",
        path: `${path}/${items[nth % items.length]!.audio_file_id}/confirm`,
      });
    },
  },
  {
    name: "lists of 100,000 files and 300,000 labels, at the last page and with filters",
    connections: 48,
    prepare: async (send, database) => {
      const { set, dataset } = await draft(send);
      await addLabels(database, dataset, set.split("/").at(-1)!, 300_000);
      await database(`
        insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, status, embedding_status,
          duration_ms, upload_expires_at, uploaded_at)
          select gen_random_uuid(), tenant_id, id, n || '.wav', 'audio/wav', 10, 'ready', 'failed', 1000, now(), now()
          from datasets, generate_series(1, 100000) n where id = '${dataset}';`);
      const paths = [
        "/api/v1/datasets?page=10000000&page_size=100",
        `/api/v1/datasets/${dataset}/audio?page=1000&page_size=100`,
        `/api/v1/datasets/${dataset}/audio?filename=nothing`,
        `/api/v1/datasets/${dataset}/audio?status=failed`,
        `${set}/annotations?page=3000&page_size=100`,
        `${set}/annotations?artifact_type=hum`,
      ];
      return (nth) => ({ method: "GET", path: paths[nth % paths.length]! });
    },
  },
  {
    name: "exports of a set of 300,000 labels",
    connections: 12,
    prepare: async (send, database) => {
      const { set, dataset } = await draft(send);
      await addLabels(database, dataset, set.split("/").at(-1)!, 300_000);
      return () => ({ method: "GET", path: `${set}/export/csv` });
    },
  },
  {
    name: "exports of a set of 300,000 labels with a filter that matches none",
    connections: 12,
    prepare: async (send, database) => {
      const { set, dataset } = await draft(send);
      await addLabels(database, dataset, set.split("/").at(-1)!, 300_000);
      return () => ({ method: "GET", path: `${set}/export/csv?annotator=nobody` });
    },
  },
  {
    name: "responses of 300,000 labels that nobody reads",
    connections: 150,
    prepare: async (send, database) => {
      const { set, dataset } = await draft(send);
      await addLabels(database, dataset, set.split("/").at(-1)!, 300_000);
      return () => ({ method: "GET", path: set, unreadMs: 10_000 });
    },
  },
  {
    name: "event streams",
    connections: 150,
    prepare: async () => () => ({ method: "GET", path: "/api/v1/events/stream" }),
  },
  {
    name: "event streams that begin with 100,000 events of other types",
    connections: 12,
    prepare: async (send, database) => {
      const { dataset } = await draft(send);
      await database(`
        with positions as (
          insert into event_positions as p (tenant_id, seq)
          select tenant_id, 100000 from datasets where id = '${dataset}'
          on conflict (tenant_id) do update set seq = p.seq + excluded.seq returning tenant_id, seq
        )
        insert into events (tenant_id, seq, type, data, created_at)
          select tenant_id, seq - 100000 + n, 'inference_job.pending',
            jsonb_build_object('inference_job_id', gen_random_uuid(), 'status', 'pending'), now()
          from positions, generate_series(1, 100000) n;`);
      const path = "/api/v1/events/stream?types=webhook.disabled";
      return () => ({ method: "GET", path, headers: { "Last-Event-ID": "0" }, unreadMs: 10_000 });
    },
  },
  {
    name: "long polls",
    connections: 150,
    prepare: async (send, database) => {
      const { set, dataset } = await draft(send);
      await addLabels(database, dataset, set.split("/").at(-1)!, 1);
      const job = randomUUID();
      await database(`
        insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version,
          config)
          select '${job}', tenant_id, dataset_id, id, 'attack', version, '{"artifact_types": ["click"], "epochs": 3,
            "validation_split": 0.2, "learning_rate": 0.001, "batch_size": 32, "chunk_size_ms": 500, "stride_ms": 250}'
          from annotation_sets where id = '${set.split("/").at(-1)}';`);
      return () => ({ method: "GET", path: `/api/v1/training-jobs/${job}?wait=30` });
    },
  },
  {
    name: "requests without a key",
    connections: 150,
    prepare: async () => (nth) => ({
      method: "GET",
      path: ["/api/v1/datasets", "/openapi.json", "/dashboard/", "/nowhere"][nth % 4]!,
      isAnonymous: true,
    }),
  },
  ...[false, true].map((isAnonymous) => ({
    name: `pipelined requests ${isAnonymous ? "without" : "with"} a key`,
    connections: 60,
    prepare: async () => () =>
      ({ method: "GET", path: "/api/v1/datasets", isAnonymous, isPipelined: true }) as const,
  })),
];

/** Stops the processes of the cluster's object store, which are processes of this machine, until the returned call. */
function pauseStore(): () => void {
  const pids = readdirSync("/proc").filter((pid) => {
    try {
      return (
        readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "versitygw" &&
        readFileSync(`/proc/${pid}/cgroup`, "utf8").includes("kubepods")
      );
    } catch {
      return false;
    }
  });
  if (pids.length === 0) throw new Error("found no process of the object store");
  for (const pid of pids) process.kill(Number(pid), "SIGSTOP");
  return () => {
    for (const pid of pids) process.kill(Number(pid), "SIGCONT");
  };
}

/** Adds a file and its labels, and returns the id of the file. The triggers of the tables run as for requests. */
async function addLabels(
  database: Database,
  dataset: string,
  set: string,
  labels: number,
  times = "n, n + 5",
): Promise<string> {
  const file = randomUUID();
  await database(`
    ${fileOf(dataset, file)}
    insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
      select gen_random_uuid(), tenant_id, '${dataset}', '${set}', '${file}', 'click', ${times}
      from datasets, generate_series(1, ${labels}) n where id = '${dataset}';`);
  return file;
}

/** The embedding has failed, because the operator would begin one that is pending. */
const fileOf = (dataset: string, file: string) => `
    insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, status, embedding_status,
      duration_ms, upload_expires_at, uploaded_at)
      select '${file}', tenant_id, id, 'a.wav', 'audio/wav', 10, 'ready', 'failed', 3600000, now(), now()
      from datasets where id = '${dataset}';`;
