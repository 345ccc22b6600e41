// Copies that are too large for a request: what clients see meanwhile, and that each piece is a transaction of its own. Also
// whose background work is next. The tests do the work piece by piece, as the loop of controllers/background.ts does.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isFrozen } from "../../src/db/driver/errors.ts";
import { oldestBackgroundWork } from "../../src/db/operator/background-work.ts";
import { execute, useApi } from "../support/api.ts";
import { large, useBackgroundWork } from "../support/background.ts";
import { addEndedInference, makeDataset } from "../support/world.ts";

const api = useApi();
const stage = useBackgroundWork(api);
const { client, work, workAll, setOf, labelsOf, rowsOf, addFiles } = stage;

const copyOf = (id: string) => client.post(stage.sets, { from_annotation_set_id: id });
const click = (audio_file_id: string) => ({ audio_file_id, artifact_type: "click", start_ms: 1, end_ms: 2 });

describe("a copy of a large set", () => {
  it("is filled after the response, and shows its progress", async () => {
    const source = await setOf(large);
    const made = await copyOf(source.id);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ total_annotations: 0, copying: { copied: 0, total: large } });
    expect(await oldestBackgroundWork(api.operatorPool)).toBeGreaterThan(0);
    const copy = `${stage.sets}/${made.body.id}`;
    await work();
    const half = await client.get(copy);
    expect(half.body.copying).toEqual({ copied: 5_000, total: large });
    expect(half.body.annotations).toHaveLength(5_000);
    expect(await workAll()).toBe(2);
    expect(await oldestBackgroundWork(api.operatorPool)).toBe(0);
    const done = await client.get(copy);
    expect(done.body).toMatchObject({ total_annotations: large, copying: null });
    expect(done.headers.get("etag")).not.toBe(half.headers.get("etag"));
    const facts = ({ start_ms, end_ms }: { start_ms: number; end_ms: number }) => `${start_ms} ${end_ms}`;
    const original = (await client.get(`${stage.sets}/${source.id}`)).body.annotations;
    expect(done.body.annotations.map(facts)).toEqual(original.map(facts));
  });

  it("cannot be changed, published or copied before it is complete; nor can its source, until then", async () => {
    const source = await setOf(large);
    const copy = (await copyOf(source.id)).body.id;
    const refused = async () => [
      await client.post(`${stage.sets}/${copy}/annotations`, click(source.audio)),
      await client.post(`${stage.sets}/${copy}/publish`),
      await copyOf(copy),
      await client.post(`${stage.sets}/${source.id}/annotations`, click(source.audio)),
      await client.delete(`${stage.sets}/${source.id}`),
    ];
    for (const answer of await refused()) {
      expect([answer.status, answer.body.code]).toEqual([409, "annotation_set_copying"]);
      expect(answer.headers.get("retry-after")).toBe("5");
    }
    await workAll();
    // The third is a copy of the first copy, so only that set is read at the end.
    expect((await refused()).map(({ status }) => status)).toEqual([201, 200, 201, 201, 204]);
  });

  it("survives a crash within a piece", async () => {
    const source = await setOf(large);
    const copy = (await copyOf(source.id)).body.id;
    await work();
    await execute(
      api.db,
      sql.fragment`alter table annotation_sets add constraint crash check (copying is not null) not valid`,
    );
    await work();
    await expect(work()).rejects.toThrow(/crash/);
    expect(await labelsOf(copy)).toBe(10_000);
    await execute(api.db, sql.fragment`alter table annotation_sets drop constraint crash`);
    await workAll();
    expect(await labelsOf(copy)).toBe(large);
  });

  it("ends when the copy is deleted", async () => {
    const source = await setOf(large);
    const copy = (await copyOf(source.id)).body.id;
    await work();
    await work();
    expect((await client.delete(`${stage.sets}/${copy}`)).status).toBe(204);
    expect((await client.get(`${stage.sets}/${copy}`)).status).toBe(404);
    expect((await client.post(`${stage.sets}/${source.id}/annotations`, click(source.audio))).status).toBe(
      201,
    );
    await workAll();
    expect(await labelsOf(copy)).toBe(0);
    expect(await labelsOf(source.id)).toBe(large + 1);
  });

  it("is one of three at a time", async () => {
    const source = await setOf(large);
    const copies = await Promise.all(Array.from({ length: 5 }, () => copyOf(source.id)));
    expect(copies.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429, 429]);
    const refused = copies.find(({ status }) => status === 429);
    expect([refused?.body.code, refused?.headers.get("retry-after")]).toEqual(["share_exceeded", "2"]);
    expect((await client.get(stage.sets)).body.total).toBe(4);
    await workAll();
    expect((await copyOf(source.id)).status).toBe(201);
  });

  it("is protected from a process that knows of no copies", async () => {
    const source = await setOf(large);
    const copy = (await copyOf(source.id)).body.id;
    const db = api.pool.asTenant(client.tenantId);
    const none = sql.type(z.object({}));
    for (const set of [source.id, copy])
      await expect(
        db.query(none`
          insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
            end_ms)
          values (gen_random_uuid(), ${client.tenantId}, ${stage.dataset}, ${set}, ${source.audio}, 'click', 1, 2)`),
      ).rejects.toSatisfy(isFrozen);
    await expect(
      db.query(none`update annotation_sets set status = 'published' where id = ${copy}`),
    ).rejects.toMatchObject({ code: "23514" });
    await db.query(none`delete from annotation_sets where id = ${copy}`);
    expect((await client.post(`${stage.sets}/${source.id}/annotations`, click(source.audio))).status).toBe(
      201,
    );
  });

  it("keeps the audio files of its dataset until it is complete", async () => {
    const source = await setOf(large);
    await copyOf(source.id);
    const audio = `/api/v1/datasets/${stage.dataset}/audio/${source.audio}`;
    expect((await client.delete(audio)).body.code).toBe("annotation_set_copying");
    await workAll();
    expect((await client.delete(audio)).status).toBe(204);
  });

  it("is completed from a draft that is published meanwhile", async () => {
    const source = await setOf(large);
    const copy = (await copyOf(source.id)).body.id;
    expect((await client.post(`${stage.sets}/${source.id}/publish`)).status).toBe(200);
    await workAll();
    expect(await labelsOf(copy)).toBe(large);
    expect((await client.post(`${stage.sets}/${source.id}/annotations`, click(source.audio))).body.code).toBe(
      "annotation_set_published",
    );
  });
});

describe("a copy of a set with very many reviewed files", () => {
  it("is filled after the response, and cannot be changed before", async () => {
    const source = await setOf(1);
    await addFiles(source.id, large);
    await client.post(`${stage.sets}/${source.id}/publish`);
    const made = await copyOf(source.id);
    expect(made.body).toMatchObject({ total_annotations: 0, copying: { copied: 0, total: 1 } });
    const copy = `${stage.sets}/${made.body.id}`;
    const reviewed = async () => (await client.get(`${copy}/reviewed`)).body.total;
    expect(await reviewed()).toBe(0);
    // The previous release does not know this kind, and would complete the copy without the reviewed files.
    const kind = sql.type(z.object({ kind: z.string() }))`select kind from next_background_work()`;
    expect(await api.operatorPool.oneFirst(kind)).toBe("copy");
    expect(await work()).toBe("copy");
    expect(await reviewed()).toBe(5_000);
    expect((await client.get(copy)).body.copying).toEqual({ copied: 0, total: 1 });
    expect((await client.put(`${copy}/reviewed/${source.audio}`)).body.code).toBe("annotation_set_copying");
    expect(await workAll()).toBe(2);
    expect((await client.get(copy)).body).toMatchObject({ total_annotations: 1, copying: null });
    expect(await reviewed()).toBe(large);
    expect((await client.put(`${copy}/reviewed/${source.audio}`)).status).toBe(204);

    expect((await client.delete(copy)).status).toBe(204);
    expect(await rowsOf("reviewed_files")).toBe(large + large + 1 - 10_000);
    await workAll();
    expect(await rowsOf("reviewed_files")).toBe(large);
  });
});

describe("a copy of a small set", () => {
  it("is complete when its request ends", async () => {
    const made = await copyOf((await setOf(10_000)).id);
    expect(made.body).toMatchObject({ total_annotations: 10_000, copying: null });
    expect(await work()).toBeNull();
  });
});

describe("a draft from very many detections", () => {
  it("is filled after the response, and its job is kept until then", async () => {
    const url = await addEndedInference(api.db, client, stage.dataset, large);
    const made = await client.post(`${url}/to-annotation-set`, {
      dataset_id: stage.dataset,
      create_types: true,
    });
    expect(made.body.copying).toEqual({ copied: 0, total: large });
    const without = await client.patch(`/api/v1/datasets/${stage.dataset}`, {
      artifact_types: [{ name: "click" }],
    });
    expect(without.body.code).toBe("annotation_set_copying");
    await work();
    expect((await client.delete(url)).body.code).toBe("annotation_set_copying");
    await workAll();
    const done = (await client.get(`${stage.sets}/${made.body.id}`)).body;
    expect(done).toMatchObject({ total_annotations: large, copying: null });
    const positions = done.annotations.map((a: { audio_file_id: string; start_ms: number }) =>
      [a.audio_file_id, a.start_ms].join(" "),
    );
    expect(new Set(positions).size).toBe(large);
    expect((await client.delete(url)).status).toBe(204);
  });
});

describe("background work", () => {
  it("is as often that of a tenant with little as that of one with much", async () => {
    const few = await api.tenant();
    for (const [of, count] of [
      [few, 1],
      [client, 20],
    ] as const) {
      const id = await makeDataset(of);
      await execute(
        api.db,
        sql.fragment`
          insert into annotation_sets (id, tenant_id, dataset_id, version, deleted_at)
          select gen_random_uuid(), ${of.tenantId}, ${id}, n, now() from generate_series(1, ${count}::int) n`,
      );
    }
    const next = sql.type(z.object({ tenant_id: z.string() }))`select tenant_id from next_background_work()`;
    let picks = 0;
    for (let i = 0; i < 100; i++) if ((await api.operatorPool.oneFirst(next)) === few.tenantId) picks++;
    // Fewer than 25 of 100 at even odds happens once in ten million runs.
    expect(picks).toBeGreaterThan(24);
    expect(picks).toBeLessThan(76);
  });

  it("is none when there is nothing to do, and that of one replica at a time", async () => {
    expect(await work()).toBeNull();
    const { id } = await setOf(large);
    await client.delete(`${stage.sets}/${id}`);
    const locked = Promise.withResolvers<void>();
    const checked = Promise.withResolvers<void>();
    const other = api.db.transaction(async (tx) => {
      await tx.query(sql.type(z.object({}))`select from annotation_sets where id = ${id} for update`);
      locked.resolve();
      await checked.promise;
    });
    await locked.promise;
    expect(await work()).toBeNull();
    checked.resolve();
    await other;
    expect(await work()).toBe("annotation_set");
  });
});
