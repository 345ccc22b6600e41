// Uploads from a real browser to a real object store: many files, refused ones, and those that a reload interrupts.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Page } from "playwright-core";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { numberEvents } from "../../src/db/event.ts";
import { execute } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { newDataset, useDashboard } from "../support/dashboard-page.ts";
import { poll } from "../support/poll.ts";
import { makeWorld } from "../support/world.ts";

const dashboard = useDashboard();
const { api, folder } = dashboard;

/** Files of different lengths. */
function files(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const path = join(folder, `take-${i + 1}.wav`);
    writeFileSync(path, wav({ durationMs: 200 + i }));
    return path;
  });
}

const chooseFiles = (page: Page, paths: readonly string[]) =>
  page.locator("input[data-files]").setInputFiles([...paths]);

describe("uploads", () => {
  it("send many files with their digests, and the dataset counts them by the event stream", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page, complaints } = await dashboard.open(client, `datasets/${id}/upload`);
    await chooseFiles(page, files(7));
    await page.getByRole("heading", { name: "All files are uploaded" }).waitFor();
    const { items } = (await client.get(`/api/v1/datasets/${id}/audio`)).body;
    expect(items.map(({ status }: { status: string }) => status)).toEqual(Array(7).fill("processing"));
    expect(items.every((item: { checksum_sha256: string | null }) => item.checksum_sha256 !== null)).toBe(
      true,
    );

    await page.getByRole("link", { name: "Back to the dataset" }).click();
    const row = page.getByRole("row", { name: /take-1\.wav/ });
    await row.getByText("Processing").waitFor();
    const file = items.find(({ filename }: { filename: string }) => filename === "take-1.wav");
    await execute(
      api.db,
      sql.fragment`update audio_files set status = 'ready', embedding_status = 'completed', duration_ms = 200
        where id = ${file.id}`,
    );
    while ((await numberEvents(api.pool))?.more !== false);
    await row.getByText("Embedded").waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("say why a file is refused, and leave out what is no audio", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page } = await dashboard.open(client, `datasets/${id}/upload`);
    const [broken, text] = [join(folder, "broken.wav"), join(folder, "notes.txt")];
    writeFileSync(broken, "this is no audio at all, but it has the name of some");
    writeFileSync(text, "notes");
    await chooseFiles(page, [broken, text]);
    await page.getByText("Left out 1 file").waitFor();
    await page.getByRole("heading", { name: "1 file failed" }).waitFor();
    const [file] = (await client.get(`/api/v1/datasets/${id}/audio`)).body.items;
    await page.locator(".upload.failed").getByText(file.error_message, { exact: false }).waitFor();
    expect(await page.getByRole("button", { name: /again/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Cancel the upload of broken.wav" }).click();
    await poll(
      "the file to be deleted",
      async () => (await client.get(`/api/v1/datasets/${id}/audio`)).body.total === 0,
    );
    await page.close();
  });

  it("are announced once when a reload loses the answer to their announcement", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const list = async () => (await client.get(`/api/v1/datasets/${id}/audio`)).body;
    const { page } = await dashboard.open(client, `datasets/${id}/upload`);
    await page.evaluate(`(() => {
      const send = globalThis.fetch;
      globalThis.fetch = async (...request) => {
        const answer = await send(...request);
        return answer.url.endsWith("/audio/upload-urls") ? new Promise(() => {}) : answer;
      };
    })()`);
    const chosen = files(5);
    await chooseFiles(page, chosen);
    await poll("the records of the first announcement", async () => (await list()).total > 0);
    page.on("dialog", (dialog) => dialog.accept());
    await page.reload();
    await page.getByText("5 uploads were interrupted").waitFor();
    await chooseFiles(page, chosen);
    await page.getByRole("heading", { name: "All files are uploaded" }).waitFor();
    const { total, items } = await list();
    expect([total, new Set(items.map(({ filename }: { filename: string }) => filename)).size]).toEqual([
      5, 5,
    ]);
    await page.close();
  });

  it("go on after a reload when the same files are chosen again, without a second record", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page } = await dashboard.open(client, `datasets/${id}/upload`);
    const store = new URL(await api.storage.presignGet("x", { expiresSeconds: 60, audience: "client" }))
      .origin;
    await page.route(`${store}/**`, () => {});
    const chosen = files(2);
    await chooseFiles(page, chosen);
    await poll(
      "both records",
      async () => (await client.get(`/api/v1/datasets/${id}/audio`)).body.total === 2,
    );
    await poll("the list to be kept", async () =>
      String(await page.evaluate("JSON.stringify(localStorage)")).includes("take-2.wav"),
    );
    page.on("dialog", (dialog) => dialog.accept());
    await page.reload();
    await page.getByText("2 uploads were interrupted").waitFor();
    await page.unroute(`${store}/**`);
    await chooseFiles(page, chosen);
    await page.getByRole("heading", { name: "All files are uploaded" }).waitFor();
    expect(await page.getByText("interrupted").count()).toBe(0);
    const { items } = (await client.get(`/api/v1/datasets/${id}/audio`)).body;
    expect(items.map(({ status }: { status: string }) => status)).toEqual(["processing", "processing"]);
    await page.close();
  });

  it("to an inference job go on in a later visit, without a second record of a file", async () => {
    const client = await api.tenant();
    const { modelId } = await makeWorld(client, api.db);
    const { id } = (await client.post("/api/v1/inference-jobs", { model_id: modelId })).body;
    const records = `/api/v1/inference-jobs/${id}/files`;
    const chosen = files(3);
    // An earlier visit has announced the first two, and the first one has arrived.
    const announced = chosen.slice(0, 2).map((path) => {
      const bytes = readFileSync(path);
      const checksum_sha256 = createHash("sha256").update(bytes).digest("hex");
      return {
        filename: basename(path),
        content_type: "audio/wav",
        size_bytes: bytes.length,
        checksum_sha256,
      };
    });
    const made = (await client.post(`${records}/upload-urls`, { files: announced })).body.items;
    await execute(
      api.db,
      sql.fragment`update inference_files set status = 'queued' where id = ${made[0].inference_file.id}`,
    );
    const { page } = await dashboard.open(client, `inference/${id}`);
    await page.getByText("1 upload was interrupted").waitFor();
    await chooseFiles(page, chosen);
    await poll("the job to start", async () => {
      const job = (await client.get(`/api/v1/inference-jobs/${id}`)).body;
      return job.start_requested_at !== null;
    });
    const { items } = (await client.get(records)).body;
    const states = items.map(({ filename, status }: Record<string, string>) => `${filename} ${status}`);
    expect(states.sort()).toEqual(["take-1.wav queued", "take-2.wav queued", "take-3.wav queued"]);
    await page.close();
  });

  it("are forgotten without those that have arrived since, and are not interrupted while another tab runs them", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page } = await dashboard.open(client, `datasets/${id}/upload`);
    const store = new URL(await api.storage.presignGet("x", { expiresSeconds: 60, audience: "client" }))
      .origin;
    await page.context().route(`${store}/**`, () => {});
    await chooseFiles(page, files(2));
    await poll("the list to be kept", async () =>
      /take-2.wav[^}]*"id|"id[^}]*take-2.wav/.test(
        String(await page.evaluate("JSON.stringify(localStorage)")).replaceAll("\\", ""),
      ),
    );
    const opened = page.waitForEvent("popup");
    await page.evaluate("void open(location.href)");
    const other = await opened;
    await other.locator("input[data-files]").waitFor({ state: "attached" });
    expect(await other.getByText("interrupted").count()).toBe(0);
    await other.close();
    page.on("dialog", (dialog) => dialog.accept());
    await page.reload();
    await page.getByText("2 uploads were interrupted").waitFor();
    const [{ id: arrived }] = (await client.get(`/api/v1/datasets/${id}/audio`)).body.items;
    await execute(
      api.db,
      sql.fragment`update audio_files set status = 'processing', uploaded_at = now() where id = ${arrived}`,
    );
    await page.getByRole("button", { name: "Forget them" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget them" }).click();
    await page.getByText("uploads were interrupted").waitFor({ state: "detached" });
    await poll("the other file to be gone", async () => {
      const { items } = (await client.get(`/api/v1/datasets/${id}/audio`)).body;
      return items.length === 1 && items[0].id === arrived;
    });
    await page.close();
  });
});
