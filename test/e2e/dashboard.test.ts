// The dashboard in a real browser on the full cluster: from signing in to detections that are heard and corrected, through
// its pages alone. Steps build on each other, in one page. The later test files train on the dataset that it makes.
import { basename } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect } from "vitest";
import { body } from "../../client/client.ts";
import { signInLink } from "../../tools/demo/sign-in.ts";
import { composeVoices, type Truth, type Voices } from "../../tools/demo/voices.ts";
import { useBrowser } from "../support/browser.ts";
import { recordSound } from "../support/sound.ts";
import { type Account, findAddress, service, sharedAccount } from "./accounts.ts";
import { until } from "./cluster.ts";
import { holdAfter, runningPod } from "./jobs.ts";
import { step } from "./steps.ts";
import { shareTrainable, takes, types } from "./takes.ts";

const datasetName = "Announcements";
/** Pods take their time, and so do pages on a busy machine. */
const patienceMs = 180_000;

const browser = useBrowser();
let voices: Voices;
let account: Account;
let address: string;
let page: Page;
let complaints: string[];
let datasetId: string;
/** The file that is labelled with the keys, and searched by the model. */
let filename: string;
let inferenceId: string;

const newPage = async () => {
  const watched = await browser.page({ locale: "en-GB" });
  watched.page.setDefaultTimeout(patienceMs);
  return watched;
};

beforeAll(async () => {
  voices = await composeVoices(takes);
  account = await sharedAccount();
  address = await findAddress();
  ({ page, complaints } = await newPage());
});

const heading = (name: string | RegExp, on = page) => on.getByRole("heading", { level: 1, name });
const button = (name: string | RegExp) => page.getByRole("button", { name });
const titleOfPage = async () => (await heading(/./).innerText()).trim();
const idOfPage = () => new URL(page.url()).pathname.split("/").at(-1) ?? "";
const wave = () => page.locator("[data-wave]");
const press = async (...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
const inMenu = async (menu: string, name: string) => {
  await button(menu).click();
  await page.getByRole("menuitem", { name }).click();
};

const signedIn = step("signs in with a key", [], async () => {
  await page.goto(`${address}/dashboard/`);
  await page.getByLabel("API key", { exact: true }).fill(account.apiKey);
  await button("Sign in").click();
  await heading("Overview").waitFor();
  // The browser reports that there was no session at first.
  complaints.splice(0);
});

const uploaded = step("creates a dataset of recordings, which the cluster embeds", [signedIn], async () => {
  await Promise.all(["g", "d"].map((key) => page.keyboard.press(key)));
  await heading("Datasets").waitFor();
  await press("c");
  await page.getByRole("dialog", { name: "Create a dataset" }).waitFor();
  await page.keyboard.type(datasetName);
  await page.keyboard.press("Tab");
  await page.keyboard.type(types.join(", "));
  await page.keyboard.press("Enter");
  await heading(datasetName).waitFor();
  datasetId = idOfPage();

  await press("u");
  await heading("Upload audio").waitFor();
  await page.locator("input[data-files]").setInputFiles([...voices.train.paths]);
  await page.getByRole("heading", { name: "All files are uploaded" }).waitFor();
  await page.getByRole("link", { name: "Back to the dataset" }).click();
  const embedded = page.locator(".checks .done", { hasText: "Embeddings of all files" });
  await embedded.waitFor();
  await until("the list to show it", patienceMs, async () =>
    (await page.getByRole("row").getByText("Embedded").count()) === voices.train.paths.length
      ? true
      : undefined,
  );
});

const published = step("labels with the keys alone, imports, and publishes", [uploaded], async () => {
  await page.getByRole("tab", { name: "Annotation sets" }).click();
  await button("Create annotation set").click();
  await button("Create draft").click();
  await heading("Version 1").waitFor();
  const setId = idOfPage();
  const set = page.url();

  await press("e");
  await wave().waitFor();
  const files = await account.user.listAudio(datasetId);
  filename = await titleOfPage();
  const file = files.find((one) => one.filename === filename);
  const wanted = labelsOf((name) => name === filename);
  await labelWithKeys(wanted, file?.duration_ms ?? 0);
  const made = await labelsOnceThereAre(wanted.length, setId);
  expect(made.map(({ artifact_type }) => artifact_type)).toEqual(wanted.map((one) => one.artifact_type));
  for (const [i, { start_ms, end_ms }] of made.entries()) {
    expect(Math.abs(start_ms - (wanted[i]?.start_ms ?? 0))).toBeLessThan(15);
    expect(Math.abs(end_ms - (wanted[i]?.end_ms ?? 0))).toBeLessThan(15);
  }
  await press("m");
  await page.getByRole("button", { name: "Reviewed", pressed: true }).waitFor();
  await press("n");
  const names = files.map((one) => one.filename);
  await until("the next file", patienceMs, async () => {
    const shown = await titleOfPage();
    return shown !== filename && names.includes(shown) ? true : undefined;
  });

  const others = labelsOf((name) => name !== filename);
  const lines = others.map((one) => [one.file, one.artifact_type, one.start_ms, one.end_ms].join());
  const csv = ["filename,artifact_type,start_ms,end_ms", ...lines].join("\n");
  await page.goto(set);
  await inMenu("Actions for version 1", "Import annotations");
  await page
    .locator("#import-file")
    .setInputFiles({ name: "labels.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await button("Check the file").click();
  await button(`Import ${others.length} annotations`).click();
  await page.getByText(`Imported ${others.length} annotations`).waitFor();
  await inMenu("Actions for version 1", "Publish");
  await page.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
  await page.locator(".page-note").getByText("Published").first().waitFor();

  await shareTrainable({
    datasetId,
    annotationSetId: setId,
    files: voices.train.paths.map((path) => {
      const one = files.find((other) => other.filename === basename(path));
      return { id: one?.id ?? "", path, filename: basename(path), sizeBytes: one?.size_bytes ?? 0 };
    }),
  });
});

const trained = step("trains, and shows how progress and curves grow", [published], async () => {
  await page.goto(`${address}/dashboard/datasets/${datasetId}`);
  await page.getByRole("link", { name: "Train a model" }).click();
  await page.getByText("Settings: the defaults").click();
  // As many steps as by default, a third of the work.
  await page.getByLabel("Epochs").fill("5");
  await page.getByLabel("Batch size").fill("8");
  await page.getByLabel("Stride (ms)").fill("1000");
  await page.evaluate(recordTraining);
  await button("Start training").click();
  await heading(`Training on ${datasetName}`).waitFor();
  const resume = await holdAfter(
    await runningPod({ name: `tj-${idOfPage()}` }),
    "the page to show two percentages and two epochs",
    async () => {
      const { percents, epochs } = await recorded();
      // What the worker has reported takes this long to the page.
      if ((percents.at(-1) ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, 2_500));
      return between(percents).length > 1 && epochs.length > 1;
    },
    1_000,
  );
  resume();
  await page.locator(".job-state").getByText("Completed").waitFor();
  await page.getByRole("link", { name: "Find artifacts with it" }).waitFor();
  await page.locator(".chart canvas").first().waitFor();
  const { percents, epochs } = await recorded();
  expect(percents).toEqual([...percents].sort((a, b) => a - b));
  expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
  expect(epochs.at(-1)).toBe(5);
});

const inferred = step("finds artifacts, and plays one that can be heard", [trained], async () => {
  await page.getByRole("link", { name: "Find artifacts with it" }).click();
  await page.getByLabel("Files of a dataset").check();
  await page.getByLabel("Dataset", { exact: true }).selectOption(datasetId);
  await page.getByLabel("Only some").check();
  await page.getByRole("checkbox", { name: filename }).check();
  await button("Find artifacts").click();
  await heading(/^Found by/).waitFor();
  inferenceId = idOfPage();
  const list = page.getByRole("table", { name: `Detections in ${filename}` });
  await list.waitFor();
  await page.evaluate(recordSound);
  await list
    .getByRole("button", { name: /^Play / })
    .first()
    .click();
  const { from, to } = await until("the sound to move", patienceMs, async () => {
    const times = (await page.evaluate("heard")) as number[];
    const [from, to] = [Math.min(...times), Math.max(...times)];
    return to > from + 0.2 ? { from, to } : undefined;
  });
  // Silence is 0; the part that was heard may lie between two words.
  expect(await page.evaluate(loudest(from, to))).toBeGreaterThan(0.001);
});

const corrected = step("accepts what the model has found into a new draft, by key", [inferred], async () => {
  await page.goto(`${address}/dashboard/datasets/${datasetId}?tab=sets`);
  await button("Create annotation set").click();
  await button("Create draft").click();
  await heading("Version 2").waitFor();
  const setId = idOfPage();
  await page.getByRole("link", { name: filename }).click();
  await wave().waitFor();
  await page.getByText("Suggestions of a model").click();
  await page.getByLabel("Inference job").selectOption(inferenceId);
  const suggestions = async (note: RegExp) => Number.parseInt(await page.getByText(note).innerText(), 10);
  const all = await suggestions(/^[1-9]\d* open of \d+ suggestion/);
  await wave().focus();
  // The first one selects a suggestion; each following one accepts it and goes on to the next.
  const accepted = Math.min(3, all);
  await press(...Array(accepted + 1).fill("Enter"));
  const labels = await labelsOnceThereAre(accepted, setId);
  for (const { extra_data } of labels) expect(extra_data).toEqual({ inference_job_id: inferenceId });
  expect(await suggestions(/^\d+ open of \d+ suggestion/)).toBeLessThanOrEqual(all - accepted);
});

step("opens by a link that signs in", [uploaded], async () => {
  const { page: other } = await newPage();
  await other.goto(await signInLink({ ...(await service()), api_key: account.apiKey }));
  await heading("Overview", other).waitFor();
  await other.close();
});

describe("an API key", () => {
  step("is created, copied, used and revoked, which signs out whoever uses it", [signedIn], async () => {
    const request = async (key: string) =>
      (await fetch(`${address}/api/v1/datasets`, { headers: { "X-API-Key": key } })).status;
    await page.goto(`${address}/dashboard/settings/api-keys`);
    await button("Create API key").click();
    await page.locator("dialog input:focus").waitFor();
    await page.keyboard.type("build server");
    await page.keyboard.press("Enter");
    const key = await page.locator("[data-secret]").innerText();
    await page.locator(".secret").getByRole("button", { name: "Copy", exact: true }).click();
    await button("I have copied it").click();

    const { page: other } = await newPage();
    await other.goto(`${address}/dashboard/settings/usage`);
    const field = other.getByLabel("API key", { exact: true });
    await field.focus();
    await other.keyboard.press("ControlOrMeta+V");
    expect(await field.inputValue()).toBe(key);
    await other.keyboard.press("Enter");
    await heading("Usage", other).waitFor();
    expect(await request(key)).toBe(200);

    await inMenu("Actions for the key build server", "Revoke");
    await button("Revoke key").click();
    await page.getByText("Revoked the key").waitFor();
    expect(await request(key)).toBe(401);
    // The event stream ends with the session, so the page knows without a click.
    await other.getByText(/^Your session has ended/).waitFor();
    await other.getByRole("heading", { name: "Sign in to Plosive" }).waitFor();
    await other.close();
  });
});

step("logs no error in the browser", [corrected], async () => {
  // Chromium ignores that header on plain http, and says so. Streams end when another page is opened.
  const known =
    /events\/stream failed:|net::ERR_\S+ \S*events\/stream|Cross-Origin-Opener-Policy header has been ignored/;
  expect(complaints.filter((text) => !known.test(text))).toEqual([]);
});

const labelsOf = (isWanted: (file: string) => boolean): readonly Truth[] =>
  voices.train.truth
    .filter(({ file, artifact_type }) => isWanted(file) && types.includes(artifact_type))
    .sort((a, b) => a.start_ms - b.start_ms);

/** The labels of a set; the page saves them by itself. */
const labelsOnceThereAre = (count: number, annotation_set_id: string) =>
  until(`${count} labels`, patienceMs, async () => {
    const found = await body(
      account.user.client.GET(
        "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations",
        { params: { path: { dataset_id: datasetId, annotation_set_id } } },
      ),
    );
    expect(found.length).toBeLessThanOrEqual(count);
    return found.length === count ? found.sort((a, b) => a.start_ms - b.start_ms) : undefined;
  });

/** Moves the playhead by a tenth of what is visible, and by 10 ms, to where each label begins and ends. */
async function labelWithKeys(wanted: readonly Truth[], durationMs: number): Promise<void> {
  const zooms = 3;
  const strideMs = Math.min(durationMs, 30_000) / 2 ** zooms / 10;
  await press("Home", ...Array(zooms).fill("+"));
  let atMs = 0;
  const seek = async (toMs: number, least = 0) => {
    const strides = Math.floor(Math.max(0, toMs - atMs) / strideMs);
    const steps = Math.max(least, Math.round((toMs - atMs - strides * strideMs) / 10));
    await press(...Array(strides).fill("ArrowRight"), ...Array(steps).fill("."));
    atMs += strides * strideMs + steps * 10;
  };
  for (const { artifact_type, start_ms, end_ms } of wanted) {
    await press("Escape", String(types.indexOf(artifact_type) + 1));
    await seek(start_ms);
    await press("[");
    await seek(end_ms, 1);
    await press("]");
  }
}

/** Keeps each percentage and number of epochs that the page shows. */
const recordTraining = `
  window.recorded = { percents: [], epochs: [] };
  const keep = (list, value) => { if (value !== undefined && value !== list.at(-1)) list.push(value); };
  new MutationObserver(() => {
    const percent = document.querySelector(".job-state .number")?.textContent.match(/^\\d+/)?.[0];
    keep(recorded.percents, percent && Number(percent));
    const rows = document.querySelector(".chart table")?.tBodies[0].rows.length;
    keep(recorded.epochs, rows);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });`;

async function recorded() {
  const text = String(await page.evaluate("JSON.stringify(recorded)"));
  return JSON.parse(text) as { percents: number[]; epochs: number[] };
}

const between = (percents: readonly number[]) => percents.filter((percent) => percent > 0 && percent < 100);

/** The largest sample between two seconds of what the page plays. */
const loudest = (from: number, to: number) => `(async () => {
  const bytes = await (await fetch(document.querySelector("audio").src, { cache: "no-store" })).arrayBuffer();
  const sound = await new OfflineAudioContext(1, 1, 16000).decodeAudioData(bytes);
  const part = sound.getChannelData(0).slice(${from} * 16000, ${to} * 16000);
  return part.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
})()`;
