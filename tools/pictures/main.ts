// `make pictures`, after `make demo`: takes the pictures of the documentation from the dashboard of the running service, of
// what the demo has left there, and writes them into docs/pictures. Usage: main.ts [--name CLUSTER]
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { allItems, body } from "../../client/client.ts";
import { repoDir } from "../cache.ts";
import { findService } from "../demo/connection.ts";
import { makeUser, type User } from "../demo/user.ts";
import { launchBrowser } from "./browser.ts";
import { startFilm, writePicture } from "./film.ts";

const folder = join(repoDir, "docs/pictures");
const size = { width: 1280, height: 800 };
/** Suggestions that the film accepts, and how long each of them is listened to. */
const accepted = 5;
const listenMs = 1_300;

try {
  await takePictures();
} catch (error) {
  process.stderr.write(`pictures: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function takePictures(): Promise<void> {
  const { values } = parseArgs({ options: { name: { type: "string" } } });
  const service = await findService({ cluster: values.name });
  const user = makeUser({ baseUrl: service.base_url, apiKey: service.api_key });
  const subject = await findSubject(user);
  const { datasetId, jobId } = subject;
  const draft = await user.createAnnotationSet(datasetId);
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: size, locale: "en-GB", colorScheme: "light" });
    const open = async (path: string) => {
      await page.goto(`${service.base_url}/dashboard/${path}`);
      await settled(page);
    };
    const inBothThemes = async (name: string) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await writePicture(await settled(page), join(folder, `${name}-${colorScheme}.png`));
      }
      await page.emulateMedia({ colorScheme: "light" });
    };
    await page.goto(`${service.base_url}/dashboard/`);
    await page.getByLabel("API key", { exact: true }).fill(service.api_key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

    await open(`datasets/${datasetId}/sets/${draft.id}/files/${subject.audioFileId}?job=${jobId}`);
    await page.locator("[data-wave]").focus();
    const film = await startFilm(page);
    // The first one selects a suggestion; each following one accepts it and goes on to the next.
    for (let i = 0; i <= accepted; i++) {
      await page.keyboard.press("Enter");
      await page.waitForTimeout(listenMs);
    }
    for (const key of ["Escape", "j", "f"]) {
      await page.keyboard.press(key);
      await page.waitForTimeout(listenMs);
    }
    await film.write(join(folder, "labelling.webp"), size.width * 0.75);
    await page.locator("[data-saving=saved]").waitFor();
    // Near enough for a spectrogram, with the last of the accepted ones selected.
    for (const key of ["Escape", "Home", "f", "+", "+"]) await page.keyboard.press(key);
    await page
      .getByRole("listbox")
      .getByRole("option")
      .nth(accepted - 1)
      .click();
    await inBothThemes("editor");

    await open(`training/${subject.trainingId}`);
    await inBothThemes("training");
    await open(`inference/${jobId}?file=${subject.fileId}`);
    await inBothThemes("inference");
  } finally {
    await browser.close();
    const path = { dataset_id: datasetId, annotation_set_id: draft.id };
    await body(
      user.client.DELETE("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}", {
        params: { path },
      }),
    );
  }
}

interface Subject {
  readonly jobId: string;
  /** The file of the job in which the most was found. */
  readonly fileId: string;
  readonly audioFileId: string;
  readonly datasetId: string;
  readonly trainingId: string;
}

/** The newest job that has searched files of a dataset: these can be labelled. */
async function findSubject(user: User): Promise<Subject> {
  const jobs = await allItems((query) =>
    user.client.GET("/api/v1/inference-jobs", { params: { query: { ...query, status: ["completed"] } } }),
  );
  for (const { id, model_id } of jobs) {
    const files = await user.listInferenceFiles(id);
    const [file] = files
      .filter(({ dataset_id }) => dataset_id !== null)
      .sort((a, b) => b.detection_count - a.detection_count);
    if (file === undefined || file.dataset_id === null || file.audio_file_id === null) continue;
    const model = await body(
      user.client.GET("/api/v1/models/{model_id}", { params: { path: { model_id } } }),
    );
    return {
      jobId: id,
      fileId: file.id,
      audioFileId: file.audio_file_id,
      datasetId: file.dataset_id,
      trainingId: model.training_job_id,
    };
  }
  throw new Error("no inference job has searched files of a dataset: run `make demo` first");
}

/** A picture of the page once it does not change any more. */
async function settled(page: Page): Promise<Buffer> {
  let before: Buffer = Buffer.alloc(0);
  for (let i = 0; i < 40; i++) {
    const now = await page.screenshot();
    if (now.equals(before) && (await page.locator("[aria-busy=true]").count()) === 0) return now;
    before = now;
    await page.waitForTimeout(500);
  }
  throw new Error(`${page.url()} does not come to rest`);
}
