// Refusals of jobs that were applied with kubectl: the operator runs the checks of the API, shows the API's messages,
// and repeats the checks until they pass. Real API server, Postgres, S3, and REST over HTTP.
import { sql } from "slonik";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { inferenceJobs, trainingJobs } from "../../src/kube/kinds.ts";
import { searchable, trainable, useAdoption } from "../support/adoption.ts";
import { type Client, execute } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { makeDataset } from "../support/world.ts";

const stage = useAdoption();
const { cluster, api, apply, find, accepted, refusal } = stage;
let client: Client;
beforeEach(async () => {
  client = await api.tenant();
});

describe("a training job applied with kubectl", () => {
  it("is refused with every reason that the API would give, and accepted once all are fixed", async () => {
    const draft = await trainable(api.db, client, false);
    draft.config.artifact_types.push("hum");
    await apply(trainingJobs, "draft", draft);
    const said = await refusal(trainingJobs, "draft");
    expect(said).toMatchObject({
      reason: "PreconditionFailed",
      message:
        "The annotation set is a draft; publish it first (annotation_set_not_published); " +
        "The annotation set has no annotations of these types: hum (no_annotations).",
    });
    const path = `/api/v1/datasets/${draft.datasetId}/annotation-sets/${draft.annotationSetId}`;
    const audio = await api.db.oneFirst(sql.type(z.object({ id: z.string() }))`
      select id from audio_files where dataset_id = ${draft.datasetId}`);
    await client.post(`${path}/annotations`, {
      audio_file_id: audio,
      artifact_type: "hum",
      start_ms: 1,
      end_ms: 2,
    });
    await client.post(`${path}/publish`);
    // The test does not touch the resource: the operator checks it again every 30 s.
    await poll("its acceptance", async () => (await accepted(trainingJobs, "draft"))?.status === "True");
    const id = (await find(trainingJobs, "draft"))!.metadata.uid!;
    expect((await client.get(`/api/v1/training-jobs/${id}`)).status).toBe(200);
  });

  it("is refused without a row for a wrong tenant, dataset, annotation set, shard count or artifact type", async () => {
    const other = await trainable(api.db, await api.tenant());
    const good = await trainable(api.db, client);
    const suspended = await api.tenant();
    const away = await trainable(api.db, suspended);
    await execute(
      api.db,
      sql.fragment`update tenants set suspended_at = now() where id = ${suspended.tenantId}`,
    );
    const nobody = "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f00";
    const before = await api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from training_jobs`);
    const table: [string, object, RegExp][] = [
      ["no-tenant", { ...good, tenantId: nobody }, /^spec\.tenantId: there is no such tenant/],
      ["suspended", away, /^This account is suspended \(tenant_suspended\)\.$/],
      ["not-its-own", { ...other, tenantId: client.tenantId }, /^Dataset not found \(dataset_not_found\)\.$/],
      ["no-set", { ...good, annotationSetId: nobody }, /^Annotation set not found/],
      ["two-shards", { ...good, shards: { count: 2 } }, /^spec\.shards\.count: a training job has one shard/],
      [
        "no-such-type",
        { ...good, config: { artifact_types: ["click", "buzz"] } },
        /^spec\.config\.artifact_types\.1: the dataset has no such artifact type/,
      ],
    ];
    for (const [name, spec] of table) await apply(trainingJobs, name, spec);
    for (const [name, , words] of table) {
      const { message, reason } = await refusal(trainingJobs, name);
      expect([name, reason, message]).toEqual([name, "PreconditionFailed", expect.stringMatching(words)]);
    }
    const after = await api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from training_jobs`);
    expect(after).toBe(before);
  });

  it("can be cancelled after it was refused", async () => {
    await apply(trainingJobs, "never-mind", await trainable(api.db, client, false));
    await refusal(trainingJobs, "never-mind");
    const ref = stage.ref("never-mind");
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "too late" } } });
    await poll(
      "its end",
      async () => (await find(trainingJobs, "never-mind"))?.status?.phase === "Cancelled",
    );
  });

  it("is refused while its tenant has the maximum number of waiting jobs", async () => {
    await stage.operator.stop();
    await stage.start({ maxWaiting: 1 });
    await stage.operator.leading;
    const spec = await trainable(api.db, client);
    const first = await apply(trainingJobs, "one-of-one", spec);
    await stage.podOf(`tj-${first.metadata.uid}-1`);
    await apply(trainingJobs, "two-of-one", spec);
    expect(await refusal(trainingJobs, "two-of-one")).toMatchObject({
      reason: "QuotaExceeded",
      message: expect.stringContaining("at most 1 waiting training jobs"),
    });
    await stage.operator.stop();
    await stage.start();
  });
});

describe("an inference job applied with kubectl", () => {
  it("runs over the files that it names, and is refused with a reason where the API would refuse it", async () => {
    const { files, datasetId, ...spec } = await searchable(api.db, client, 2);
    await execute(api.db, sql.fragment`update models set is_active = false where id = ${spec.modelId}`);
    await apply(inferenceJobs, "inactive", { ...spec, audioFileIds: files });
    expect((await refusal(inferenceJobs, "inactive")).message).toBe(
      "The model is not active (model_inactive).",
    );
    await execute(api.db, sql.fragment`update models set is_active = true where id = ${spec.modelId}`);
    const table: [string, object, RegExp][] = [
      ["no-files", spec, /^spec\.datasetId: give datasetId or audioFileIds/],
      [
        "too-many-shards",
        { ...spec, datasetId, shards: { count: 3 } },
        /there are only 2 files; use at most 2/,
      ],
      [
        "empty",
        { ...spec, datasetId: await makeDataset(client) },
        /no audio files that are ready \(no_files\)/,
      ],
      [
        "strange-type",
        { ...spec, datasetId, config: { artifact_types: ["buzz"] } },
        /^spec\.config\.artifact_types\.0: the model has no such artifact type/,
      ],
    ];
    for (const [name, own] of table) await apply(inferenceJobs, name, own);
    for (const [name, , words] of table) expect((await refusal(inferenceJobs, name)).message).toMatch(words);
    const { metadata } = await apply(inferenceJobs, "named", { ...spec, audioFileIds: [files[1]] });
    await stage.podOf(`ij-${metadata.uid}-1`);
    const listed = (await client.get(`/api/v1/inference-jobs/${metadata.uid}/files`)).body.items;
    expect(listed.map((file: { audio_file_id: string }) => file.audio_file_id)).toEqual([files[1]]);
  });
});
