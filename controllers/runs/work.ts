// Builds the work of a shard from Postgres: files, configuration and presigned URLs. Called by server.ts for each GET
// of work. A pod never gets credentials of the object store, only URLs that expire.
import { createHash } from "node:crypto";
import { z } from "zod";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { isShardIngested } from "../../src/db/operator/ingest.ts";
import {
  eachTrainFile,
  hasReported,
  manyEmbedItems,
  manyFeatureSpecs,
  oneDetectSetup,
  oneTrainSetup,
  recordCheckpoint,
  startDetectItems,
} from "../../src/db/operator/run.ts";
import { isTerminal } from "../../src/schemas/job.ts";
import { keys, parseRunName, runName } from "../../src/schemas/job-kind.ts";
import type { Work } from "../../src/schemas/worker.ts";
import { isNotFound, TooLargeError } from "../../src/storage/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";

export type WorkAnswer =
  | { status: 200; work: Exclude<Work, TrainWork> }
  /** The JSON of the work in pieces: a training may have a million labels. */
  | { status: 200; text: AsyncIterable<string> }
  /** 410: the run has ended for good. 503: retry in a moment. */
  | { status: 404 | 409 | 410 | 422 | 503; message: string };

type TrainWork = Work & { kind: "train" };

/** Life of presigned URLs: long enough to read a shard's inputs. Fetching the work again returns fresh URLs. */
const expiresSeconds = 3600;
const pieceLength = 64 * 1024;

interface Options {
  db: DatabasePool;
  storage: Storage;
  /** Folder of the bucket with a plug-in encoder; "" without one. */
  encoder: string;
}

const encoderManifest = z.object({ id: z.string(), version: z.string() });
const renew = "embed the audio files again (plosive-admin embeddings renew)";

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

  /**
   * Returns an error message when the embeddings come from another encoder than the installed one; null when they fit.
   * `embedded` is the name of the embedding model; it ends in +ID@VERSION when an encoder took part.
   */
  async function foreignEncoder(embedded: string): Promise<string | null> {
    const theirs = embedded.includes("+") ? embedded.slice(embedded.indexOf("+") + 1) : "none";
    const ours = encoder === "" ? "none" : await encoderName();
    if (ours === null || theirs === ours) return null;
    return `the audio files were embedded with encoder ${theirs}, but this installation has ${ours}; ${renew}`;
  }

  /**
   * Returns ID@VERSION; null when the manifest is missing or invalid, which the pods that need the encoder will report.
   */
  async function encoderName(): Promise<string | null> {
    try {
      const text = (await storage.readAll(`${encoder}/manifest.json`, 65_536)).toString();
      const { id, version } = encoderManifest.parse(JSON.parse(text));
      return `${id}@${version}`;
    } catch (error) {
      const isInvalidManifest = [SyntaxError, z.ZodError, TooLargeError].some(
        (kind) => error instanceof kind,
      );
      if (isInvalidManifest || isNotFound(error)) return null;
      throw error;
    }
  }

  return async (run: string, shard: number): Promise<WorkAnswer> => {
    const named = parseRunName(run);
    if (named === undefined) return { status: 404, message: "there is no such run" };
    const { kind, id, attempt } = named;
    const row = await maybeOneJob(db, kind, id);
    if (row === null) return { status: 404, message: "there is no such job" };
    if (isTerminal(row.status)) return { status: 410, message: "the job has ended" };
    const present = parseRunName(row.platform_job_name ?? "")?.attempt ?? 0;
    if (attempt < present) return { status: 410, message: "the job has a newer run" };
    // The pod has started before the row names its run.
    if (attempt > present) return { status: 503, message: "the run is not recorded yet" };
    const tenant = row.tenant_id;
    // An earlier run has ingested this shard. Its result stays, so there is nothing to do.
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
    const [spec, other] = await manyFeatureSpecs(db, id);
    if (spec === undefined) return noFiles;
    if (other !== undefined)
      return { status: 422, message: `the audio files have embeddings of different models; ${renew}` };
    // Every detecting pod would refuse a model of another encoder. A training that has started continues nevertheless.
    if (attempt === 1 && !(await hasReported(db, run))) {
      const foreign = await foreignEncoder(spec.id);
      if (foreign !== null) return { status: 422, message: foreign };
    }
    const key = (file: string) => keys.model(tenant, id, run, file);
    const text = trainText(id, {
      ...common,
      kind: "train",
      config,
      seed: config.seed ?? seedOf(id),
      feature_spec: spec,
      outputs: {
        model: await target(key("model.onnx")),
        weights: await target(key("weights.safetensors")),
        card: await target(key("card.json"), "application/json"),
        sums: await target(key("SHA256SUMS")),
        checkpoint: await target(keys.checkpoint(run)),
      },
      checkpoint: await lastCheckpoint(id, attempt, run),
    });
    return { status: 200, text };
  };

  /** Yields the JSON of the work of a training. It reads the files and labels as they are sent. */
  async function* trainText(id: string, work: Omit<TrainWork, "files">): AsyncGenerator<string> {
    let text = `${open(work)},"files":[`;
    let end = "";
    for await (const { file, labels } of eachTrainFile(db, id)) {
      if (file === null) text += `,${labels}`;
      else {
        const { id, duration_ms, embedding_key, embedding_size_bytes, embedding_sha256, reviewed } = file;
        const embedding = await source(embedding_key, embedding_size_bytes, embedding_sha256);
        text += `${end === "" ? "" : `${end},`}${open({ id, duration_ms, embedding, reviewed })},"annotations":[${labels}`;
        end = "]}";
      }
      if (text.length < pieceLength) continue;
      yield text;
      text = "";
    }
    yield `${text}${end}]}`;
  }

  /**
   * Returns the checkpoint of this run or of the newest earlier run that has one; null without any. There are at most
   * 20 runs.
   */
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

const noFiles: WorkAnswer = { status: 409, message: "the shard has no files left to work on" };

function answer(work: Exclude<Work, TrainWork>, items: number): WorkAnswer {
  return items === 0 ? noFiles : { status: 200, work };
}

/** The JSON text of an object without its closing brace, for further members. */
const open = (value: object) => JSON.stringify(value).slice(0, -1);

/** The default seed: every attempt of a job trains with the same one. */
function seedOf(id: string): number {
  return createHash("sha256").update(id).digest().readUInt32BE(0) & 0x7fffffff;
}
