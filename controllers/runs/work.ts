// Builds what a pod is asked to do, from Postgres, with URLs that expire: called by server.ts for each GET of work.
// The pod never sees a credential of the object store, only the right to these objects for a while.
import { createHash } from "node:crypto";
import { setImmediate as others } from "node:timers/promises";
import { z } from "zod";
import { isShardIngested } from "../../src/db/ingest.ts";
import { type Database, maybeOneJob, terminalStatuses } from "../../src/db/job.ts";
import {
  manyEmbedItems,
  manyProgress,
  manyTrainFiles,
  oneDetectSetup,
  oneTrainSetup,
  recordCheckpoint,
  startDetectItems,
} from "../../src/db/run.ts";
import { keys, parseRunName, runName } from "../../src/schemas/job-kind.ts";
import type { Work } from "../../src/schemas/worker.ts";
import { isNotFound, TooLargeError } from "../../src/storage/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";

export type WorkAnswer =
  | { status: 200; work: Work }
  /** `ended` for good, or `early`: ask again in a moment. */
  | { status: 404 | 409 | 410 | 422 | 503; message: string };

type TrainFiles = (Work & { kind: "train" })["files"];

/** Fetching the work again gives fresh URLs; long enough to read a shard's inputs. */
const expiresSeconds = 3600;

interface Options {
  db: Database;
  storage: Storage;
  /** Folder of the bucket with a plug-in encoder, "" where there is none. */
  encoder: string;
}

const encoderManifest = z.object({ id: z.string(), version: z.string() });
const renew = "they have to be embedded again (plosive-admin embeddings renew)";

export function makeWork({ db, storage, encoder }: Options) {
  const source = async (key: string, sizeBytes: number | null, sha256: string | null) => ({
    url: await storage.presignGet(key, { expiresSeconds, audience: "pod" }),
    size_bytes: sizeBytes,
    sha256,
  });
  const encoderSources = async () =>
    encoder === ""
      ? null
      : {
          manifest: await source(`${encoder}/manifest.json`, null, null),
          onnx: await source(`${encoder}/model.onnx`, null, null),
        };
  const target = (key: string, contentType?: string) =>
    storage.presignPut(key, { expiresSeconds, contentType });

  /** What is wrong with training on embeddings of this name, which ends in +ID@VERSION where an encoder made them. */
  async function foreignEncoder(embedded: string): Promise<string | null> {
    const theirs = embedded.includes("+") ? embedded.slice(embedded.indexOf("+") + 1) : "none";
    const ours = encoder === "" ? "none" : await encoderName();
    if (ours === null || theirs === ours) return null;
    return `the audio files were embedded with encoder ${theirs}, this installation has ${ours}: ${renew}`;
  }

  /** ID@VERSION, null where its manifest says neither: the pods that need it will say what is wrong. */
  async function encoderName(): Promise<string | null> {
    try {
      const text = (await storage.readAll(`${encoder}/manifest.json`, 65_536)).toString();
      const { id, version } = encoderManifest.parse(JSON.parse(text));
      return `${id}@${version}`;
    } catch (error) {
      const isItsOwnFault = [SyntaxError, z.ZodError, TooLargeError].some((kind) => error instanceof kind);
      if (isItsOwnFault || isNotFound(error)) return null;
      throw error;
    }
  }

  return async (run: string, shard: number): Promise<WorkAnswer> => {
    const named = parseRunName(run);
    if (named === undefined) return { status: 404, message: "there is no such run" };
    const { kind, id, attempt } = named;
    const row = await maybeOneJob(db, kind, id);
    if (row === null) return { status: 404, message: "there is no such job" };
    if (terminalStatuses.some((status) => status === row.status))
      return { status: 410, message: "the job has ended" };
    const present = parseRunName(row.platform_job_name ?? "")?.attempt ?? 0;
    if (attempt < present) return { status: 410, message: "the job has a newer run" };
    // The pod was faster than the row.
    if (attempt > present) return { status: 503, message: "the run is not recorded yet" };
    const tenant = row.tenant_id;
    // Taken in with an earlier run: what was told once stays as it is.
    const isDone = attempt > 1 && (await isShardIngested(db, run, shard));
    const done = (items: number): WorkAnswer => ({
      status: 200,
      work: { version: 1, kind: "done", run, shard, items },
    });
    const common = {
      version: 1 as const,
      run,
      shard,
      result: await target(keys.result(run, shard), "application/json"),
    };

    if (kind === "embedding") {
      const files = await manyEmbedItems(db, id, shard);
      if (isDone) return done(files.length);
      const items = await Promise.all(
        files.map(async ({ id: file, filename, size_bytes, checksum_sha256 }) => ({
          id: file,
          filename,
          audio: await source(keys.audio(tenant, file), size_bytes, checksum_sha256),
          outputs: {
            embedding: await target(keys.embedding(tenant, file, run)),
            peaks: await target(keys.peaks(tenant, file, run), "application/json"),
          },
        })),
      );
      return answer({ ...common, kind: "embed", encoder: await encoderSources(), items }, items.length);
    }

    if (kind === "inference") {
      const setup = await oneDetectSetup(db, id);
      const files = await startDetectItems(db, id, shard);
      if (isDone) return done(files.length);
      const items = await Promise.all(
        files.map(async ({ id: file, filename, size_bytes, checksum_sha256, object_key }) => ({
          id: file,
          filename,
          audio: await source(object_key, size_bytes, checksum_sha256),
        })),
      );
      const model = {
        onnx: await source(setup.onnx_key, setup.onnx_size_bytes, setup.onnx_sha256),
        card: await source(setup.card_key, setup.card_size_bytes, setup.card_sha256),
      };
      return answer(
        { ...common, kind: "detect", config: setup.config, model, encoder: await encoderSources(), items },
        items.length,
      );
    }

    if (isDone) return done(0);
    const config = await oneTrainSetup(db, id);
    const rows = await manyTrainFiles(db, id);
    const specs = new Set(
      rows.map(({ embedding_model, embedding_spec_hash }) => `${embedding_model} ${embedding_spec_hash}`),
    );
    if (specs.size > 1)
      return { status: 422, message: `the audio files have embeddings of different kinds: ${renew}` };
    // A model of another encoder would be refused by every pod that detects. Whoever has begun goes on all the same.
    if (attempt === 1 && (await manyProgress(db, run)).length === 0) {
      const foreign = await foreignEncoder(rows[0]?.embedding_model ?? "");
      if (foreign !== null) return { status: 422, message: foreign };
    }
    const files: TrainFiles = [];
    for (const row of rows) {
      // There may be a hundred thousand, and the lease wants to be renewed meanwhile.
      if (files.length % 500 === 499) await others();
      files.push({
        id: row.id,
        duration_ms: row.duration_ms,
        embedding: await source(row.embedding_key, row.embedding_size_bytes, row.embedding_sha256),
        reviewed: row.reviewed,
        annotations: row.annotations,
      });
    }
    const first = rows[0];
    const key = (file: string) => keys.model(tenant, id, run, file);
    return answer(
      {
        ...common,
        kind: "train",
        config,
        seed: config.seed ?? seedOf(id),
        feature_spec: { id: first?.embedding_model ?? "", hash: first?.embedding_spec_hash ?? "" },
        files,
        outputs: {
          model: await target(key("model.onnx")),
          weights: await target(key("weights.safetensors")),
          card: await target(key("card.json"), "application/json"),
          sums: await target(key("SHA256SUMS")),
          checkpoint: await target(keys.checkpoint(run)),
        },
        checkpoint: await lastCheckpoint(id, attempt, run),
      },
      files.length,
    );
  };

  /** The checkpoint of this run, or of the newest one before it that left any: there are at most twenty. */
  async function lastCheckpoint(id: string, attempt: number, run: string) {
    const resource = run.slice(0, run.lastIndexOf("-"));
    for (let n = attempt; n >= 1; n--) {
      const key = keys.checkpoint(runName(resource, n));
      try {
        const { sizeBytes } = await storage.head(key);
        await recordCheckpoint(db, id, key, sizeBytes);
        return await source(key, sizeBytes, null);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    return null;
  }
}

function answer(work: Work, items: number): WorkAnswer {
  if (items === 0) return { status: 409, message: "the shard has no files left to work on" };
  return { status: 200, work };
}

/** The same job trains with the same seed, whatever the attempt. */
function seedOf(id: string): number {
  return createHash("sha256").update(id).digest().readUInt32BE(0) & 0x7fffffff;
}
