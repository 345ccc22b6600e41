// Training, models and inference in a real browser, on the API that serves them: start and watch a training, read the
// figures of a model, see, hear, filter, export and correct what it found, compare two models.
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Client, execute } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { heading, newDataset, pressSequence, signIn, useDashboard } from "../support/dashboard-page.ts";
import {
  addCurves,
  foundByA,
  hostileType,
  type Judged,
  makeJudged,
  moveTraining,
} from "../support/judging.ts";
import { poll } from "../support/poll.ts";
import { recordSound } from "../support/sound.ts";
import { addModel, addReadyAudio, addTrainingJob } from "../support/world.ts";

const dashboard = useDashboard();
const { api, folder } = dashboard;
let client: Client;
let world: Judged;
beforeAll(async () => {
  client = await api.tenant();
  world = await makeJudged(api, client);
});

/** The audio element of the player. */
const sound = async (page: Page) =>
  JSON.parse(
    (await page.evaluate(
      `(() => { const a = document.querySelector("audio");
        return JSON.stringify(a ? { src: a.src, at: a.currentTime, isPaused: a.paused } : {}); })()`,
    )) as string,
  ) as { src?: string; at?: number; isPaused?: boolean };

const labelFocused = (page: Page, label: RegExp) =>
  poll(`the focus on ${label}`, async () =>
    label.test(String(await page.evaluate("document.activeElement.getAttribute('aria-label')"))),
  );

/** Waits until a part of these seconds of the recording has been played. */
const heardBetween = (page: Page, from: number, to: number) =>
  poll(`the sound between ${from} and ${to} s`, async () =>
    ((await page.evaluate("heard")) as number[]).some((at) => at > from && at < to),
  );

describe("training", () => {
  it("is started by a form with the bounds of the service, watched live, cancelled and repeated", async () => {
    const { datasetId } = world;
    const { page } = await dashboard.open(client, "training");
    await page
      .getByRole("row", { name: /Studio takes.*Completed/s })
      .first()
      .waitFor();
    await page.keyboard.press("c");
    await heading(page, "Train a model").waitFor();
    await page.getByLabel("Dataset").selectOption({ label: "Studio takes" });
    await page.getByText("Ready to train").waitFor();
    await page.getByText("Settings: the defaults").click();
    const epochs = page.getByLabel("Epochs");
    expect(await epochs.getAttribute("placeholder")).toBe("20");
    await epochs.fill("500");
    await page.getByText("At most 100.").waitFor();
    const start = page.getByRole("button", { name: "Start training" });
    expect(await start.isDisabled()).toBe(true);
    await epochs.fill("3");
    await page.getByLabel("Chunk size (ms)").fill("20");

    const late = await addReadyAudio(api.db, client.tenantId, datasetId, { embeddingStatus: "pending" });
    await start.click();
    await page.getByText("The training cannot start yet.").waitFor();
    const step = page.getByRole("link", { name: "See the audio files" });
    expect(await step.getAttribute("href")).toBe(`/dashboard/datasets/${datasetId}`);
    await execute(api.db, sql.fragment`delete from audio_files where id = ${late}`);
    await start.click();

    await heading(page, "Training on Studio takes").waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await page.getByText("The job waits.").waitFor();
    await page.locator(".notice.warn").getByText("stride_ms is greater than chunk_size_ms").waitFor();
    const { config } = (await client.get(`/api/v1/training-jobs/${id}`)).body;
    expect(config).toMatchObject({ epochs: 3, chunk_size_ms: 20, artifact_types: ["click", "hum"] });

    await page.getByText("No curves yet").waitFor();
    await addCurves(api, client, id);
    await moveTraining(api, id, "running", 25, "Epoch 1 of 3, validation F1 0.52");
    await page.getByText(/25 %.* left/).waitFor();
    await page.locator(".chart canvas").first().waitFor();
    await page.getByText("Values of loss").click();
    const values = page.getByRole("region", { name: "Values of loss" });
    expect((await values.getByRole("row").last().innerText()).split(/\s+/)).toEqual(["3", "0.333", "0.333"]);

    await page.getByRole("button", { name: "Cancel job" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel job" }).click();
    await page.locator(".job-state").getByText("Cancelling", { exact: true }).waitFor();
    await moveTraining(api, id, "failed", 25, "The pod ran out of memory");
    await page.getByText("The pod ran out of memory").first().waitFor();
    await page.getByRole("button", { name: "Train again" }).click();
    await poll("the page of the new job", () => !page.url().includes(id));
    await page.getByText("The job waits.").waitFor();
    const again = new URL(page.url()).pathname.split("/").at(-1);
    expect((await client.get(`/api/v1/training-jobs/${again}`)).body.config).toEqual(config);

    await pressSequence(page, "g", "o");
    await page.getByRole("link", { name: "Training", exact: true }).last().waitFor();
    const running = page.getByRole("row", { name: /Pending/ }).getByRole("link", { name: "Training" });
    expect(await running.getAttribute("href")).toBe(`/dashboard/training/${again}`);
    await page.close();
  });
});

describe("a model", () => {
  it("shows its figures, is archived and brought back, and is compared with another one", async () => {
    const { models, jobs, trainingId } = world;
    const { page, complaints } = await dashboard.open(client, `training/${trainingId}`);
    await page.getByRole("link", { name: "Voices <b>A</b>" }).click();
    await heading(page, "Voices <b>A</b>").waitFor();
    const cells = async (name: string) =>
      await page.getByRole("row", { name }).first().getByRole("cell").allInnerTexts();
    expect((await cells("click")).map((text) => text.trim())).toEqual([
      "click",
      "0.95",
      "0.90",
      "0.92",
      "0.96",
      "0.55",
      "42",
      "–",
    ]);
    await page.getByText("fewer than five events").waitFor();
    const confusion = page.getByRole("region", { name: "What it takes for what" });
    expect((await confusion.getByRole("row").nth(2).innerText()).split(/\s+/)).toEqual([
      "hum",
      "1",
      "2",
      "0",
    ]);
    await page.locator(".chart canvas").first().waitFor();

    const act = async (name: string) => {
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await act("Archive");
    await page.locator(".page-note").getByText("Archived").waitFor();
    await act("Bring back");
    await page.locator(".page-note").getByText("Inactive").waitFor();
    await page.getByRole("button", { name: "Activate", exact: true }).click();
    await page.locator(".page-note").getByText("Active", { exact: true }).waitFor();
    expect((await client.get(`/api/v1/models/${models[0]}`)).body).toMatchObject({
      is_active: true,
      archived_at: null,
    });

    await pressSequence(page, "g", "m");
    await page.getByRole("link", { name: "Compare two models" }).click();
    await page.getByLabel("Job A").selectOption(jobs[0]);
    await page.getByLabel("Job B").selectOption(jobs[1]);
    const agreement = page.getByRole("table", { name: "Agreement per type" });
    const counts = async (name: string) =>
      (await agreement.getByRole("row", { name }).getByRole("cell").allInnerTexts()).map((text) =>
        text.trim(),
      );
    await agreement.waitFor();
    expect(await counts("click")).toEqual(["click", "1", "1", "1", "33 %"]);
    expect(await counts("hum")).toEqual(["hum", "1", "0", "0", "100 %"]);
    await page.getByLabel("Found by", { exact: true }).selectOption("B");
    const differences = page.getByRole("table", { name: "Detections that only one of the two has" });
    await poll("the differences of B", async () => (await differences.getByRole("row").count()) === 2);
    await differences.getByRole("button", { name: "Play click at 0:05.000, found by B only" }).waitFor();
    expect(await page.locator("main b").count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.close();
  });
});

describe("inference", () => {
  it("shows what was found, plays it, filters at once, exports every format, and makes a draft", async () => {
    const { datasetId, jobs } = world;
    const { page, complaints } = await dashboard.open(client, `inference/${jobs[0]}`);
    const list = page.getByRole("table", { name: "Detections in take.wav" });
    const rows = async () => (await list.getByRole("row").count()) - 1;
    await poll("all detections", async () => (await rows()) === foundByA.length);
    await list.getByText(hostileType).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    const painted = `(() => { const c = document.querySelector(".wave-box canvas");
      const data = c.getContext("2d").getImageData(0, 0, c.width, c.height / 2).data;
      return data.filter((value, i) => i % 4 === 3 && value > 0).length / (data.length / 4); })()`;
    await poll("the waveform", async () => Number(await page.evaluate(painted)) > 0.3);

    await page.evaluate(recordSound);
    await list.getByRole("button", { name: "Play click at 0:02.000" }).click();
    await poll("the sound to move", async () => {
      const heard = (await page.evaluate("heard")) as number[];
      return Math.min(...heard) > 1.4 && Math.max(...heard) > Math.min(...heard);
    });
    const ended = await poll("its end", async () => {
      const now = await sound(page);
      return now.isPaused === true ? now : undefined;
    });
    expect(ended.at).toBeGreaterThan(2.5);
    // It stops before the recording ends. listening.test.ts tests which stretch is asked for.
    expect(ended.at).toBeLessThan(5.9);
    const bytes = Buffer.from(await (await fetch(ended.src ?? "")).arrayBuffer());
    const samples = new Int16Array(bytes.buffer, bytes.byteOffset + 44 + 2 * 16_000 * 1.5, 16_000);
    expect(Math.max(...samples)).toBeGreaterThan(5_000);

    // The page itself raises the fault: the stretch may have ended before a slow machine gets a message to it.
    await page.evaluate(`document.addEventListener("playing", ({ target }) => target.dispatchEvent(new Event("error")),
      { capture: true, once: true })`);
    await list.getByRole("button", { name: "Play click at 0:02.000" }).click();
    await page.getByText("Playing “take.wav” failed: the browser cannot play it").waitFor();
    expect((await sound(page)).isPaused).toBe(true);

    await page.evaluate("heard.length = 0");
    await page.keyboard.press("j");
    await labelFocused(page, /^(Play|Stop) hum at 0:03\.000$/);
    await heardBetween(page, 2.4, 4.6);
    await page.keyboard.press("s");

    await page.getByLabel("Lowest confidence").fill("0.7");
    await page.getByText("2 of 4 detections shown").waitFor();
    expect(new URL(page.url()).searchParams.get("min")).toBe("0.7");
    // Keys work from the slider too.
    await page.evaluate("heard.length = 0");
    await page.keyboard.press("j");
    await labelFocused(page, /^(Play|Stop) click at 0:01\.000$/);
    await heardBetween(page, 0.4, 1.6);
    await page.keyboard.press("s");
    await page.getByRole("checkbox", { name: /^hum/ }).uncheck();
    expect(await rows()).toBe(2);
    await page.getByRole("checkbox", { name: /^hum/ }).check();

    const save = async (name: string) => {
      await page.getByRole("button", { name: "Export" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name }).click(),
      ]);
      return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
    };
    expect(JSON.parse((await save("JSON")).text)).toHaveLength(2);
    expect((await save("CSV")).text.trimEnd().split("\n")).toHaveLength(3);
    expect((await save("DCASE list")).text).toContain("take.wav\t1.000\t1.040\tclick");
    expect(JSON.parse((await save("For Label Studio")).text).tasks).toHaveLength(1);
    expect(await save("Audacity labels")).toMatchObject({ name: "take.txt" });
    expect((await save("WebVTT")).text).toContain("00:00:02.000 --> 00:00:02.040");
    await page.getByLabel("Lowest confidence").fill("1");
    await page.getByText("0 of 4 detections shown").waitFor();
    expect(await save("Audacity labels")).toEqual({ name: "take.txt", text: "" });
    await page.getByLabel("Lowest confidence").fill("0.7");
    await page.getByText("2 of 4 detections shown").waitFor();

    await page.getByRole("button", { name: "Turn into annotation draft" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Create draft" }).click();
    await heading(page, "Studio takes").waitFor();
    const sets = (await client.get(`/api/v1/datasets/${datasetId}/annotation-sets?status=draft`)).body.items;
    expect(sets[0]).toMatchObject({ total_annotations: 2, annotations_by_type: { click: 2 } });
    expect(await page.title()).not.toContain("hit");
    // The test itself reads the canvas often.
    expect(complaints.filter((text) => !text.includes("willReadFrequently"))).toEqual([]);
    await page.close();
  });

  it("is started with any of many models", async () => {
    const own = await api.tenant();
    const datasetId = await newDataset(own);
    // A page of the list has a hundred, and the newest come first.
    const models: string[] = [];
    for (let n = 0; n <= 100; n++) {
      const training = await addTrainingJob(api.db, own.tenantId, datasetId, randomUUID());
      models.push(await addModel(api.db, own.tenantId, training));
    }
    const { page } = await dashboard.open(own, "inference/new");
    await page.getByLabel("Model", { exact: true }).selectOption(models[0] ?? "");
    expect(new URL(page.url()).searchParams.get("model")).toBe(models[0]);
    await page.close();
  });

  it("searches dropped files once all have arrived, says what is wrong, and is deleted", async () => {
    const { page } = await dashboard.open(client, "inference/new");
    const paths = [1, 2].map((n) => join(folder, `new-${n}.wav`));
    for (const [i, path] of paths.entries()) writeFileSync(path, wav({ durationMs: 300 + i }));
    const find = page.getByRole("button", { name: "Find artifacts" });
    expect(await find.isDisabled()).toBe(true);
    await page.locator("input[data-files]").setInputFiles(paths);
    await page.getByText("2 files", { exact: true }).waitFor();
    await page.getByRole("checkbox", { name: "hum" }).uncheck();
    await find.click();
    await page.getByRole("heading", { level: 1, name: /^Found by/ }).waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const startOf = async () =>
      await api.db.oneFirst(
        sql.type(z.object({ started: z.boolean() }))`
        select start_requested_at is not null as started from inference_jobs where id = ${id}`,
      );
    await poll("the start of the job", startOf);
    // A later visit knows that the job has started.
    await page.reload();
    await page.getByText("Nothing found yet").waitFor();
    const job = (await client.get(`/api/v1/inference-jobs/${id}`)).body;
    expect(job).toMatchObject({ total_files: 2, config: { artifact_types: ["click"] } });
    await page.getByRole("tab", { name: /Files/ }).click();
    await page.getByRole("row", { name: /new-1\.wav.*Waiting/s }).waitFor();

    await execute(
      api.db,
      sql.fragment`update inference_files set status = 'failed', error_message = 'not audio' where inference_job_id = ${id}`,
    );
    await execute(
      api.db,
      sql.fragment`update inference_jobs set status = 'failed', failed_files = 2, error_message = 'All files failed' where id = ${id}`,
    );
    await page.reload();
    await page.getByText("All files failed").waitFor();
    await page.getByRole("button", { name: "Try the failed files again" }).waitFor();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete job" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete job" }).click();
    await heading(page, "Inference").waitFor();
    expect((await client.get(`/api/v1/inference-jobs/${id}`)).status).toBe(404);
    await page.close();
  });
});

describe("the pages", () => {
  it("say the next step while they are empty, and what to try when something is gone or the key ends", async () => {
    const other = await api.tenant();
    const spare = (await other.post("/api/v1/auth/api-keys", { name: "spare" })).body;
    const { page } = await dashboard.open(other, "training");
    await page.getByText("No trainings yet").waitFor();
    await pressSequence(page, "g", "m");
    await page.getByText("No models yet").waitFor();
    await pressSequence(page, "g", "i");
    await page.getByText("Train one first").waitFor();
    // Jobs of another account are as good as none.
    await page.goto(`${api.url}/dashboard/inference/${world.jobs[0]}`);
    await page.getByText("Loading the inference job failed.").waitFor();
    await page.getByText("It may have been deleted, or it belongs to another account.").waitFor();
    const own = (await other.get("/api/v1/auth/api-keys")).body.find(
      ({ name }: { name: string }) => name === "test",
    );
    await api.as(spare.key).delete(`/api/v1/auth/api-keys/${own.id}`);
    await page.getByText("Your session has ended. Sign in").waitFor();
    await signIn(page, spare.key);
    await page.getByText("Loading the inference job failed.").waitFor();
    await page.close();
  });
});
