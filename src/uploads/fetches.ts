// The background loop that fetches files from URLs and accepts them as a confirm does. The rows are the queue (table
// url_uploads, docs/adr/0021-uploads-from-urls.md): a crash loses nothing, and the deletion of the file ends its fetch. Any
// number of processes may run it. Started by controllers/background.ts as the operator,
// which sees the rows of all tenants.
import { setTimeout as pause } from "node:timers/promises";
import { Counter, type Registry } from "prom-client";
import { markUploaded } from "../db/audio-file.ts";
import type { Db } from "../db/driver/page.ts";
import { withLease } from "../db/lease.ts";
import { audioBytesOf } from "../db/quota.ts";
import type { Announced } from "../db/upload.ts";
import {
  type ClaimedUpload,
  claimUrlUploads,
  deleteUrlUpload,
  failFetch,
  maybeOneWaiting,
  postponeFetch,
  renewUrlUpload,
  setFetched,
} from "../db/url-upload.ts";
import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import { startLoop } from "../loop.ts";
import { audioTypes } from "../schemas/audio-file.ts";
import { audioKey, incomingKey } from "../storage/keys.ts";
import type { Storage } from "../storage/storage.ts";
import type { RequestDeps } from "../webhooks/request.ts";
import type { SecretBox } from "../webhooks/secret.ts";
import { acceptUpload } from "./accept.ts";
import { type FetchBounds, FetchError, openUrl } from "./fetch.ts";
import { makePaceBytes } from "./pace.ts";

export interface FetchesDeps extends RequestDeps {
  readonly db: Db;
  readonly storage: Storage;
  readonly secrets: SecretBox;
  readonly log: Log;
  readonly registry: Registry;
  /** Largest file. */
  readonly maxBytes: number;
  /** Bytes of audio of a tenant; 0: no limit. */
  readonly quotaBytes: number;
  /** Override the defaults, for tests. */
  readonly timing?: Partial<typeof defaults>;
}

export interface Fetches {
  /** Starts no more fetches. Those in progress get `graceMs`, then they are aborted and due again at once. */
  stop(graceMs: number): Promise<void>;
}

const defaults = {
  pollMs: 1_000,
  leaseMs: 60_000,
  /** For one attempt. With it, hosts that send slowly cannot occupy all places for long. */
  timeoutMs: 20 * 60_000,
  retryMs: [10_000, 60_000, 10 * 60_000, 60 * 60_000],
  /** Of all fetches of this process together; one tenant's take half of it. */
  bytesPerSecond: 32 * 1024 * 1024,
};

/** Fetches at once. A fetch holds up to 10 MiB of memory. */
const limits = { total: 8, tenant: 2, host: 4 };

export function startFetches(deps: FetchesDeps): Fetches {
  const { db, log } = deps;
  const timing = { ...defaults, ...deps.timing };
  const ended = new AbortController();
  const running = new Set<Promise<void>>();
  const pace = makePaceBytes(timing.bytesPerSecond);
  const results = new Counter({
    name: "plosive_url_uploads_total",
    help: "Attempts to fetch a file from a URL, by result",
    labelNames: ["result"],
    registers: [deps.registry],
  });
  for (const result of ["fetched", "postponed", "failed"]) results.inc({ result }, 0);

  const attempt = async (upload: ClaimedUpload) => {
    const lost = new AbortController();
    const renewal = setInterval(() => {
      // If a renewal fails, the next one may succeed in time.
      renewUrlUpload(db, upload, timing.leaseMs).then(
        (isMine) => isMine || lost.abort(),
        () => {},
      );
    }, timing.leaseMs / 4);
    const facts = { tenantId: upload.tenant_id, audioFileId: upload.audio_file_id, attempt: upload.attempt };
    try {
      const timeout = AbortSignal.timeout(timing.timeoutMs);
      // A fetch that ends its process leaves no failure behind.
      if (upload.attempt > timing.retryMs.length + 1)
        throw new FetchError("no attempt came to its end", false);
      const file = await maybeOneWaiting(db, upload);
      const isFetched =
        file !== null &&
        (await fetchOne(deps, upload, file, {
          signal: AbortSignal.any([timeout, lost.signal, ended.signal]),
          pace: (bytes) => pace(upload.tenant_id, bytes),
        }));
      if (isFetched) results.inc({ result: "fetched" });
      await deleteUrlUpload(db, upload);
    } catch (error) {
      if (lost.signal.aborted) return;
      if (ended.signal.aborted) return await postponeFetch(db, upload, 0, null);
      const { reason, isTemporary } = classified(error);
      const pauseMs = isTemporary ? timing.retryMs[upload.attempt - 1] : undefined;
      results.inc({ result: pauseMs === undefined ? "failed" : "postponed" });
      if (pauseMs === undefined) await failFetch(db, upload, reason);
      else await postponeFetch(db, upload, pauseMs, reason);
      if (isUnexpected(error)) log.warn({ ...facts, err: error }, "could not store a file from a URL");
      else
        log.info({ ...facts, reason, isFinal: pauseMs === undefined }, "could not fetch a file from a URL");
    } finally {
      clearInterval(renewal);
      // Closes the connection, however far the attempt came.
      lost.abort();
    }
  };

  const loop = startLoop("fetch files from URLs", timing.pollMs, log, async () => {
    for (const upload of await claimUrlUploads(db, limits, timing.leaseMs)) {
      // If the outcome cannot be recorded, the lease expires and the file is due again.
      const done = attempt(upload)
        .catch((err) => log.warn({ err, audioFileId: upload.audio_file_id }, "could not record a fetch"))
        .finally(() => {
          running.delete(done);
          loop.wake();
        });
      running.add(done);
    }
    return false;
  });

  return {
    stop: async (graceMs) => {
      await loop.stop();
      const idle = Promise.all(running);
      await Promise.race([idle, pause(graceMs, undefined, { ref: false })]);
      ended.abort();
      // A request to the object store cannot be aborted: after a while its lease is left to expire.
      await Promise.race([idle, pause(graceMs, undefined, { ref: false })]);
    },
  };
}

const isUnexpected = (error: unknown) => !(error instanceof FetchError || error instanceof AppError);

/** Without the URL: the reason is shown and logged. */
function classified(error: unknown): { reason: string; isTemporary: boolean } {
  if (error instanceof FetchError)
    return { reason: `The file could not be fetched: ${error.message}`, isTemporary: error.isTemporary };
  if (error instanceof AppError && ["upload_mismatch", "unsupported_audio"].includes(error.code))
    return { reason: error.message, isTemporary: false };
  return { reason: "The fetched file could not be stored", isTemporary: true };
}

/** Returns false if another process has claimed the file since, or it does not wait any more. */
async function fetchOne(
  deps: FetchesDeps,
  upload: ClaimedUpload,
  file: Announced,
  flow: Pick<FetchBounds, "signal" | "pace">,
): Promise<boolean> {
  const { storage, db, secrets, maxBytes, quotaBytes } = deps;
  const { tenant_id: tenantId, audio_file_id: id } = upload;
  const left =
    quotaBytes === 0 ? Infinity : quotaBytes + file.size_bytes - (await audioBytesOf(db, tenantId));
  const bounds =
    left < maxBytes
      ? { maxBytes: left, tooLarge: "it would exceed the account's quota of bytes of audio", ...flow }
      : { maxBytes, tooLarge: `it is larger than ${maxBytes} bytes`, ...flow };
  const key = incomingKey(tenantId, id);
  // What an earlier attempt left.
  await storage.removeUpload(key);
  const { bytes, facts, headers } = await openUrl(openSealed(secrets, upload), deps, bounds);
  const named = headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  const content_type = [file.content_type, named].find((type) => Object.hasOwn(audioTypes, type));
  if (content_type === undefined)
    throw new FetchError("the response has no content type of audio; name it in content_type", false);
  await storage.writeStream(key, bytes, content_type);
  const isAccepted = await withLease(db, tenantId, id, async (requireHeld) => {
    // An accepted file never changes.
    const isMine = await renewUrlUpload(db, upload, defaults.leaseMs);
    if (!isMine || (await maybeOneWaiting(db, upload)) === null) return false;
    const fetched = { ...file, size_bytes: facts.sizeBytes, content_type };
    await setFetched(db, upload, fetched);
    const accept = { key: audioKey(tenantId, id), recordRefusal: async () => {}, requireHeld };
    const audio = await acceptUpload(storage, tenantId, fetched, facts.sha256, accept);
    await markUploaded(db, tenantId, id, audio);
    return true;
  });
  // A failure only costs storage space, until the purge looks there.
  if (isAccepted) await storage.remove(key).catch(() => {});
  return isAccepted;
}

function openSealed(secrets: SecretBox, { url, audio_file_id }: ClaimedUpload): string {
  try {
    return secrets.open(url, audio_file_id).toString();
  } catch {
    throw new FetchError("the service can no longer decrypt its URL; request the upload again", false);
  }
}
