// A database with as many rows as a test or benchmark needs, written by SQL without triggers. Ids follow from their
// numbers, so that the rows can refer to each other: idOf("files", tenant, n). The connection must belong to a superuser.

/** Rows of each kind for one tenant, and how they belong together. */
export interface Sizes {
  readonly tenants: number;
  readonly datasets: number;
  readonly filesPerDataset: number;
  readonly setsPerDataset: number;
  readonly labelsPerSet: number;
  /** Each of training and inference jobs. */
  readonly jobs: number;
  readonly filesPerInference: number;
  readonly detectionsPerFile: number;
  readonly events: number;
  readonly deliveries: number;
  /** Files and labels of the first set that the first dataset of the first tenant has instead. */
  readonly largest: { readonly files: number; readonly labels: number };
}

/** Returns the id of the `n`-th row, from 1, of a tenant, from 1. */
export function idOf(tenant: number, n = 0): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
  return `${hex(tenant, 8)}-0000-7000-8000-${hex(n, 12)}`;
}

const id = (tenant: string, n: string) =>
  `(lpad(to_hex(${tenant}), 8, '0') || '-0000-7000-8000-' || lpad(to_hex((${n})::bigint), 12, '0'))::uuid`;
/** Rows of the same tenant are minutes apart. */
const ago = (n: string) => `now() - make_interval(mins => (${n})::int)`;

/** What the migrations 0024 to 0026 write themselves, if they run after the other statements. */
export const numbersKeptByTriggers = "numbers kept by triggers";

/** Returns the statements, in order, with what each inserts. */
export function seedStatements(sizes: Sizes): { readonly what: string; readonly text: string }[] {
  const s = sizes;
  const tenants = `generate_series(1, ${s.tenants}) t`;
  const filesOf = `case when t = 1 and d = 1 then ${s.largest.files} else ${s.filesPerDataset} end`;
  const labelsOf = `case when t = 1 and d = 1 and s = 1 then ${s.largest.labels} else ${s.labelsPerSet} end`;
  // The number of a dataset's first file, of a set, and of a set's first label, less one.
  const firstFile = "(d - 1)::bigint * 1000000";
  const set = `(d - 1) * ${s.setsPerDataset} + s`;
  const firstLabel = `(${set})::bigint * 10000000`;
  const job = (n: string) => `case when ${n} % 10 = 0 then 'failed' else 'completed' end`;
  const inferenceFile = `j * ${s.filesPerInference} + f`;
  return [
    {
      what: "tenants",
      text: `
        insert into tenants (id, name) select ${id("t", "0")}, 'tenant ' || t from ${tenants}`,
    },
    {
      what: "datasets",
      text: `
        insert into datasets (id, tenant_id, name, artifact_types, created_at, last_annotation_set_version)
        select ${id("t", "d")}, ${id("t", "0")}, 'dataset ' || d, '[{"name": "click"}, {"name": "hum"}]', ${ago("d")},
          ${s.setsPerDataset}
        from ${tenants}, generate_series(1, ${s.datasets}) d`,
    },
    {
      what: "audio files",
      text: `
        insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, checksum_sha256, status,
          duration_ms, sample_rate_hz, channels, codec, embedding_status, embedding_model, embedding_spec_hash,
          embedding_key, embedding_sha256, embedding_size_bytes, embedded_at, uploaded_at, upload_expires_at, created_at)
        select ${id("t", `${firstFile} + f`)}, ${id("t", "0")}, ${id("t", "d")}, 'take ' || f || '.wav', 'audio/wav', 1000,
          repeat('a', 64), 'ready', 60000, 16000, 1, 'pcm16', 'completed', 'dsp', 'hash', 'embeddings/' || f,
          repeat('b', 64), 1000, now(), now(), now(), ${ago("f")}
        from ${tenants}, generate_series(1, ${s.datasets}) d, generate_series(1, ${filesOf}) f;
        insert into dataset_usage (tenant_id, dataset_id, audio_files)
        select tenant_id, dataset_id, count(*) from audio_files group by tenant_id, dataset_id;
        insert into tenant_usage (tenant_id, audio_bytes, training_jobs)
        select tenant_id, sum(size_bytes), ${s.jobs} from audio_files group by tenant_id`,
    },
    {
      what: "annotation sets",
      text: `
        insert into annotation_sets (id, tenant_id, dataset_id, version, status, published_at, created_at,
          annotation_count, total_annotations, total_positive_duration_ms, annotations_by_type)
        select ${id("t", set)}, ${id("t", "0")}, ${id("t", "d")}, s, case when s = 1 then 'draft' else 'published' end,
          case when s = 1 then null else now() end, ${ago("-s")}, ${labelsOf}, ${labelsOf}, 50 * ${labelsOf},
          jsonb_build_object('click', ${labelsOf})
        from ${tenants}, generate_series(1, ${s.datasets}) d, generate_series(1, ${s.setsPerDataset}) s`,
    },
    {
      what: "annotations",
      text: `
        insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
          end_ms)
        select ${id("t", `${firstLabel} + n`)}, ${id("t", "0")}, ${id("t", "d")}, ${id("t", set)},
          ${id("t", `${firstFile} + n % (${filesOf}) + 1`)}, 'click', n % 60000, n % 60000 + 50
        from ${tenants}, generate_series(1, ${s.datasets}) d, generate_series(1, ${s.setsPerDataset}) s,
          generate_series(1, ${labelsOf}) n`,
    },
    {
      what: "reviewed files",
      text: `
        insert into reviewed_files (tenant_id, dataset_id, annotation_set_id, audio_file_id, created_at)
        select ${id("t", "0")}, ${id("t", "1")}, ${id("t", "1")}, ${id("t", "f")}, ${ago("f")}
        from ${tenants}, generate_series(1, ${s.filesPerDataset}) f`,
    },
    {
      what: "training jobs and models",
      text: `
        insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version,
          config, status, progress_percent, submitted_at, created_at, completed_at)
        select ${id("t", "j")}, ${id("t", "0")}, ${id("t", "1")}, ${id("t", "2")}, 'dataset 1', 2,
          '{"artifact_types": ["click"], "epochs": 3, "validation_split": 0.2, "learning_rate": 0.001, "batch_size": 32,
            "chunk_size_ms": 500, "stride_ms": 250}', ${job("j")}, 100, now(), ${ago("j")}, now()
        from ${tenants}, generate_series(1, ${s.jobs}) j;
        insert into models (id, tenant_id, training_job_id, name, artifact_types, object_store_key, model_size_bytes,
          checksum_sha256, card_key, card_sha256, card_size_bytes, architecture, eval_metrics, created_at)
        select ${id("t", "j")}, ${id("t", "0")}, ${id("t", "j")}, 'model ' || j, '{click}', 'models/' || j, 1000,
          repeat('c', 64), 'card', repeat('d', 64), 10, '{"family": "tcn"}', '{"f1": 0.9}', ${ago("j")}
        from ${tenants}, generate_series(1, ${s.jobs}) j`,
    },
    {
      what: "inference jobs and files",
      text: `
        insert into inference_jobs (id, tenant_id, model_id, config, status, progress_percent, total_files,
          processed_files, total_detections, shard_count, start_requested_at, submitted_at, created_at, completed_at)
        select ${id("t", "j")}, ${id("t", "0")}, ${id("t", "1")},
          '{"threshold": 0.5, "thresholds": {}, "artifact_types": null, "min_duration_ms": 0, "merge_gap_ms": 0,
            "chunk_size_ms": 500, "stride_ms": 250}', ${job("j")}, 100, ${s.filesPerInference}, ${s.filesPerInference},
          ${s.filesPerInference * s.detectionsPerFile}, 1, now(), now(), ${ago("j")}, now()
        from ${tenants}, generate_series(1, ${s.jobs}) j;
        insert into inference_files (id, tenant_id, inference_job_id, audio_file_id, filename, content_type, size_bytes,
          object_key, status, shard, duration_ms, detection_count, created_at)
        select ${id("t", inferenceFile)}, ${id("t", "0")}, ${id("t", "j")}, ${id("t", "f")}, 'take ' || f || '.wav',
          'audio/wav', 1000, 'audio/' || f, 'completed', 0, 60000, ${s.detectionsPerFile}, ${ago("f")}
        from ${tenants}, generate_series(1, ${s.jobs}) j, generate_series(1, ${s.filesPerInference}) f`,
    },
    {
      what: "detections",
      text: `
        insert into detections (id, tenant_id, inference_job_id, inference_file_id, ordinal, artifact_type, start_ms,
          end_ms, confidence)
        select ${id("t", `(${inferenceFile})::bigint * 1000000 + n`)}, ${id("t", "0")}, ${id("t", "j")},
          ${id("t", inferenceFile)}, n, 'click', n * 100, n * 100 + 50, 0.9
        from ${tenants}, generate_series(1, ${s.jobs}) j, generate_series(1, ${s.filesPerInference}) f,
          generate_series(1, ${s.detectionsPerFile}) n`,
    },
    {
      what: "job events",
      text: `
        insert into job_events (tenant_id, job_kind, job_id, level, type, message)
        select ${id("t", "0")}, kind, ${id("t", "j")}, 'info', 'status', 'The job is ' || state
        from ${tenants}, generate_series(1, ${s.jobs}) j, unnest('{training,inference}'::text[]) kind,
          unnest('{queued,running,completed}'::text[]) state`,
    },
    {
      what: "events, webhooks and deliveries",
      text: `
        -- Unique numbers, as the schema before 0026 needs them.
        insert into events (tenant_id, seq, type, data, created_at) overriding system value
        select ${id("t", "0")}, (t - 1)::bigint * ${s.events} + n, 'training_job.progress', '{"progress_percent": 1}', ${ago("n % 1000")}
        from ${tenants}, generate_series(1, ${s.events}) n;
        select setval(pg_get_serial_sequence('events', 'seq'), ${s.tenants * s.events});
        insert into webhooks (id, tenant_id, url, host, secret)
        select ${id("t", "1")}, ${id("t", "0")}, 'https://example.com/', 'example.com', repeat('x', 32)::bytea
        from ${tenants};
        insert into webhook_deliveries (id, tenant_id, webhook_id, message_id, type, body, status, attempts, created_at,
          finished_at)
        select ${id("t", "n")}, ${id("t", "0")}, ${id("t", "1")}, 'evt_' || n, 'model.created', '{}', 'delivered', 1,
          ${ago("n")}, now()
        from ${tenants}, generate_series(1, ${s.deliveries}) n`,
    },
    {
      what: numbersKeptByTriggers,
      text: `
        insert into event_positions (tenant_id, seq) select id, ${s.tenants * s.events} from tenants;
        update dataset_usage set usable_files = audio_files, usable_ms = audio_files * 60000`,
    },
    { what: "statistics of the planner", text: "analyze" },
  ];
}

/** Inserts the rows. `run` executes one or more statements on a connection that it keeps for all of them. */
export async function seed(
  run: (text: string) => Promise<unknown>,
  sizes: Sizes,
  onProgress: (what: string) => void = () => {},
): Promise<void> {
  await run("set session_replication_role = replica");
  for (const { what, text } of seedStatements(sizes)) {
    onProgress(what);
    await run(text);
  }
  await run("set session_replication_role = origin");
}
