// The editor in a real browser, on the real API, database and object store: labelling with the keys alone, and that nothing of
// it is ever lost: by a reload, a cut network, a second person, an ended session.
import { describe, expect, it } from "vitest";
import { signIn, useDashboard } from "../support/dashboard-page.ts";
import { editorOf, type Label, press, rows, saving, wave, words } from "../support/editor-page.ts";
import { poll } from "../support/poll.ts";
import { addEndedInference } from "../support/world.ts";

const dashboard = useDashboard();
const { api } = dashboard;
const { world, openEditor } = editorOf(dashboard);

describe("labelling", () => {
  it("is done with the keys alone, saved by itself, undone, and there after a reload", async () => {
    const made = await world(["take-1.wav", "take-2.wav"]);
    const { page, complaints } = await openEditor(made);
    await press(page, "[", ...Array(10).fill("."), "]");
    await made.saved("click 0-100");
    await saving(page, "saved");
    await press(page, "2");
    await made.saved("hum 0-100");
    await press(page, "Escape", ".", ".", "[", ".", ".", ".", "]", "Delete");
    await press(page, "z");
    await made.saved("hum 0-100", "hum 120-150");
    await press(page, "z", "z", "Shift+Z", "Shift+Z");
    await made.saved("hum 0-100", "hum 120-150");
    await saving(page, "saved");

    // The handles are sliders, and say where they are.
    await press(page, "j");
    const end = page.getByRole("slider", { name: "End of hum" });
    await end.focus();
    await press(page, "ArrowRight", "Shift+ArrowRight");
    expect(await end.getAttribute("aria-valuetext")).toBe("end 0.111 seconds");
    await made.saved("hum 0-111", "hum 120-150");
    // Numbers do the same as dragging.
    await page.getByLabel("Start", { exact: true }).fill("0:00.050");
    await press(page, "Enter");
    await made.saved("hum 50-111", "hum 120-150");
    await saving(page, "saved");

    await page.reload();
    await wave(page).waitFor();
    expect(await words(page)).toEqual(["hum, 0.05 to 0.111 s", "hum, 0.12 to 0.15 s"]);
    expect(await page.getByRole("listbox").ariaSnapshot()).toContain('option "hum, 0.05 to 0.111 s"');
    await rows(page).first().click();
    const tree = await page.locator(".editor").ariaSnapshot();
    expect(tree).toContain('application "Waveform of take-1.wav"');
    expect(tree).toMatch(/slider "Start of hum"/);

    // Playing moves the time, and the next file is the one that nobody has reviewed.
    await wave(page).focus();
    await press(page, "Home", " ");
    await poll(
      "the time to move",
      async () => !/^0:00\.0/.test(await page.locator(".editor-time").innerText()),
    );
    await press(page, " ", "m");
    await page.getByRole("button", { name: "Reviewed", pressed: true }).waitFor();
    await press(page, "n");
    await page.getByRole("heading", { level: 1, name: "take-2.wav" }).waitFor();
    // The page shows the mark before the service has it.
    const reviewed = await poll("the mark", async () => {
      const { items } = (await made.client.get(made.labels.replace(/annotations$/, "reviewed"))).body;
      return items.length > 0 ? items : undefined;
    });
    expect(reviewed).toMatchObject([{ audio_file_id: made.files[0] }]);
    expect(
      complaints.filter(
        (text) => !/events\/stream failed:|net::ERR_\S+ \S*events\/stream|status of 412/.test(text),
      ),
    ).toEqual([]);
    await page.close();
  });

  it("marks a file as reviewed with one request at a time, however fast the key is pressed", async () => {
    const made = await world(["take-1.wav"]);
    const { page } = await openEditor(made);
    const done: string[] = [];
    let open = 0;
    let mostOpen = 0;
    await page.route("**/reviewed/*", async (route) => {
      const method = route.request().method();
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      if (done.length === 0) await new Promise((resolve) => setTimeout(resolve, 1_000));
      const answer = await route.fetch();
      open -= 1;
      // The page sends a request again that a busy service refused.
      if (answer.status() === 204) done.push(method);
      await route.fulfill({ response: answer });
    });
    await press(page, "m", "m");
    await expect.poll(() => done, { timeout: 120_000 }).toEqual(["PUT", "DELETE"]);
    expect(mostOpen).toBe(1);
    await page.getByRole("button", { name: "Mark as reviewed" }).waitFor();
    await press(page, "m", "m", "m");
    await page.getByRole("button", { name: "Reviewed", pressed: true }).waitFor();
    const reviewed = () => made.client.get(made.labels.replace(/annotations$/, "reviewed"));
    await poll("the file to be reviewed", async () => (await reviewed()).body.items.length === 1);
    // A request of the dashboard may still be held.
    await page.unrouteAll({ behavior: "wait" });
    await page.close();
  });

  it("drags an edge by as much as the pointer moves, and not at all by a click on its handle", async () => {
    const made = await world();
    await made.add(5_000, { end_ms: 10_000 });
    const { page } = await openEditor(made);
    await rows(page).first().click();
    const end = page.getByRole("slider", { name: "End of click" });
    const at = async () => Number(await end.getAttribute("aria-valuenow"));
    const { x, y, width, height } = (await end.boundingBox())!;
    const plot = (await page.locator(".editor").getByRole("application").boundingBox())!;
    const [fromX, fromY] = [x + width / 2, y + height / 2];
    await page.mouse.move(fromX, fromY);
    await page.mouse.down();
    await page.mouse.move(fromX + 1, fromY);
    await page.mouse.up();
    expect(await at()).toBe(10_000);

    const visible = await page.evaluate("globalThis.innerWidth");
    const to = Math.min(plot.x + plot.width, Number(visible)) - 10;
    await page.mouse.move(fromX, fromY);
    await page.mouse.down();
    await page.mouse.move(to - 4, fromY, { steps: 10 });
    const near = await at();
    // A hand that holds the mouse still moves it by a pixel or two.
    for (let n = 0; n < 10; n++) await page.mouse.move(to - 4 + (n % 2), fromY);
    await page.mouse.up();
    const msPerPixel = (near - 10_000) / (to - 4 - fromX);
    expect(near).toBeGreaterThan(10_000);
    expect(Math.abs((await at()) - near)).toBeLessThan(10 * msPerPixel);
    await page.close();
  });

  it("has keys that can be changed, and a list of them", async () => {
    const made = await world();
    const { page } = await openEditor(made);
    await press(page, "?");
    const dialog = page.getByRole("dialog", { name: "Keys of the editor" });
    await dialog.getByRole("button", { name: /^Set the start at the playhead/ }).click();
    await press(page, "z");
    await dialog.getByText("“Undo” has this key").waitFor();
    await press(page, "b");
    await dialog.getByRole("button", { name: "Done" }).click();
    await wave(page).focus();
    await press(page, "b", ".", "]");
    await made.saved("click 0-10");
    await page.close();
  });
});

describe("the next file", () => {
  it("is not opened once the page has been left", async () => {
    const made = await world(["take-1.wav", "take-2.wav"]);
    const { page } = await openEditor(made);
    const asked = Promise.withResolvers<() => Promise<void>>();
    await page.route("**/audio?*order=asc*", (route) => asked.resolve(() => route.continue()), { times: 1 });
    await press(page, "n");
    const answer = await asked.promise;
    await page.getByRole("link", { name: "Datasets" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Datasets" }).waitFor();
    const answered = page.waitForResponse(/order=asc/);
    await answer();
    await (await answered).finished();
    await page.evaluate("new Promise((done) => setTimeout(done, 300))");
    expect(new URL(page.url()).pathname).toBe("/dashboard/datasets");
    await page.close();
  });
});

describe("nothing is lost", () => {
  it("while the network is cut, nor by a reload before it is saved", async () => {
    const made = await world();
    const { page } = await openEditor(made);
    await page.context().setOffline(true);
    await press(page, "[", ".", "]");
    await page.getByText("1 change is not saved").waitFor();
    await press(page, "Escape", ".", "[", ".", "]");
    await page.getByText("2 changes are not saved").waitFor();
    await page.context().setOffline(false);
    await made.saved("click 0-10", "click 20-30");
    await saving(page, "saved");

    // Changes do not reach the service, and the page is loaded anew.
    await page.route("**/annotations/bulk**", (route) => route.abort());
    await press(page, "Delete", ".", "[", ".", "]");
    await page.getByText("2 changes are not saved").waitFor();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.reload();
    await page.getByText("Restored 2 changes of yours").waitFor();
    await page.unroute("**/annotations/bulk**");
    await made.saved("click 0-10", "click 40-50");
    await page.close();
  });

  it("when an answer is lost: nothing is doubled", async () => {
    const made = await world();
    const { page } = await openEditor(made);
    await page.evaluate(`(() => {
      const send = globalThis.fetch;
      const seen = new Promise((resolve) => { globalThis.goOn = resolve; });
      globalThis.fetch = async (...request) => {
        const answer = await send(...request);
        if (!answer.url.endsWith("/annotations/bulk")) return answer;
        // The page asks again once the test has seen what it says.
        globalThis.fetch = async (...next) => { await seen; return await send(...next); };
        throw new TypeError("The answer is lost.");
      };
    })()`);
    await press(page, "[", ".", "]");
    await page.getByText("1 change is not saved").waitFor();
    await page.evaluate("goOn()");
    await saving(page, "saved");
    expect(await made.inApi()).toEqual(["click 0-10"]);
    await page.close();
  });

  it("when two people change one set: their labels are joined, and the same label is decided", async () => {
    const made = await world();
    const [first, second] = [await made.add(1_000), await made.add(2_000)];
    const { page } = await openEditor(made);
    await made.add(3_000);
    await made.client.delete(`${made.labels}/${second.id}`);
    await press(page, "[", ".", "]");
    await page.getByText("Somebody else has changed 2 labels of this file").waitFor();
    await made.saved("click 0-10", "click 1000-1050", "click 3000-3050");

    await made.client.patch(`${made.labels}/${first.id}`, { end_ms: 1_500 });
    await press(page, "l");
    await page.getByRole("slider", { name: "Start of click" }).focus();
    await press(page, "ArrowRight");
    await page.getByText("Nothing is lost, and nothing more is saved until you decide").waitFor();
    await page.getByRole("button", { name: "Decide" }).click();
    await page.getByLabel("Both, as two labels").check();
    await page.getByRole("button", { name: "Save these" }).click();
    await made.saved("click 0-10", "click 1000-1500", "click 1010-1050", "click 3000-3050");
    await page.close();
  });

  it("when the key is revoked: it is said, and saved after the next sign-in", async () => {
    const made = await world();
    const other = (await made.client.post("/api/v1/auth/api-keys", { name: "other" })).body;
    const { page } = await openEditor(made);
    await page.context().setOffline(true);
    await press(page, "[", ".", "]");
    await page.getByText("1 change is not saved").waitFor();
    const keys = (await made.client.get("/api/v1/auth/api-keys")).body as { id: string; name: string }[];
    const own = keys.find(({ name }) => name === "test");
    await api.as(other.key).delete(`/api/v1/auth/api-keys/${own?.id}`);
    await page.context().setOffline(false);
    await page.getByText("Your session has ended. Sign in").waitFor();
    await page.getByText("1 change of labels is kept here").waitFor();
    await signIn(page, other.key);
    await saving(page, "saved");
    const labels = (await api.as(other.key).get(made.labels)).body as Label[];
    expect(labels).toMatchObject([{ start_ms: 0, end_ms: 10 }]);
    await page.close();
  });

  it("when the set is published meanwhile: it is said, and kept", async () => {
    const made = await world();
    await made.add(1_000);
    const { page } = await openEditor(made);
    await page.route("**/annotations/bulk", (route) => route.abort());
    await press(page, "[", ".", "]");
    await page.getByText("1 change is not saved").waitFor();
    await made.client.post(made.labels.replace(/annotations$/, "publish"));
    await page.unroute("**/annotations/bulk");
    await page.getByText("never changes again").waitFor();
    expect(await made.inApi()).toEqual(["click 1000-1050"]);
    await page.getByRole("button", { name: "Give them up" }).click();
    await page.getByRole("button", { name: "Give up", exact: true }).click();
    await poll("the label to go", async () => (await words(page)).length === 1);
    await page.close();
  });
});

describe("suggestions of a model", () => {
  it("are accepted and rejected by one key each", async () => {
    const made = await world();
    const job = await addEndedInference(api.db, made.client, made.dataset, 9);
    const { page } = await dashboard.open(
      made.client,
      `${made.path(made.files[0])}?job=${job.split("/").at(-1)}`,
    );
    await page.getByText("3 open of 3 suggestions").waitFor();
    await wave(page).focus();
    await press(page, "Enter", "Enter", "Delete", "Enter");
    await made.saved("click 0-50", "click 200-250");
    await page.getByText("0 open of 3 suggestions").waitFor();
    await page.close();
  });
});

describe("annotation sets", () => {
  it("lead from the dataset's list to the first file that nobody has reviewed", async () => {
    const made = await world(["take-1.wav", "take-2.wav"]);
    await made.client.put(made.labels.replace(/annotations$/, `reviewed/${made.files[0]}`));
    const { page } = await dashboard.open(made.client, `datasets/${made.dataset}?tab=sets`);
    await page.getByRole("button", { name: "Label version 1" }).click();
    await page.getByRole("heading", { level: 1, name: "take-2.wav" }).waitFor();
    await page.close();
  });

  it("are created, imported, exported, compared, published and deleted", async () => {
    const made = await world();
    await made.add(1_000);
    const { page, complaints } = await dashboard.open(made.client, `datasets/${made.dataset}?tab=sets`);
    await page.getByRole("button", { name: "Create annotation set" }).click();
    await page.getByRole("button", { name: "Create draft" }).click();
    await page.getByRole("heading", { level: 1, name: "Version 2" }).waitFor();
    await page.getByRole("button", { name: "Actions for version 2" }).click();
    await page.getByRole("menuitem", { name: "Import annotations" }).click();
    await page.locator("#import-file").setInputFiles({
      name: "labels.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(
        "filename,artifact_type,start_ms,end_ms\ntake-1.wav,click,1010,1060\ntake-1.wav,click,5000,5050\nother.wav,click,1,2\n",
      ),
    });
    await page.getByRole("button", { name: "Check the file" }).click();
    await page.getByText("2 annotations would be added, 1 label skipped").waitFor();
    await page.getByRole("button", { name: "Import 2 annotations" }).click();
    await page.getByText("Imported 2 annotations").waitFor();
    const refusal = { code: "annotation_set_copying", detail: "The set is being copied." };
    await page.route("**/export/csv*", (route) => route.fulfill({ status: 409, json: refusal }), {
      times: 1,
    });
    await page.getByRole("button", { name: "Actions for version 2" }).click();
    await page.getByRole("menuitem", { name: "Export CSV" }).click();
    await page.getByText("The export failed: The set is being copied").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Actions for version 2" }).click();
    await page.getByRole("menuitem", { name: "Export CSV" }).click();
    expect((await download).suggestedFilename()).toMatch(/\.csv$/);

    await page.getByRole("tab", { name: "Agreement" }).click();
    await page.getByLabel("Compare with").selectOption({ index: 1 });
    const row = page.getByRole("row", { name: /click/ });
    await row.waitFor();
    expect((await row.getByRole("cell").allInnerTexts()).map((text) => text.trim())).toEqual([
      "click",
      "1",
      "1",
      "0",
      "0.67",
    ]);

    await page.getByRole("button", { name: "Actions for version 2" }).click();
    await page.getByRole("menuitem", { name: "Publish" }).click();
    await page.getByText("It has no annotations of hum").waitFor();
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.locator(".page-note").getByText("Published").first().waitFor();
    await page.goto(`${api.url}/dashboard/datasets/${made.dataset}?tab=sets`);
    await page.getByRole("button", { name: "Actions for version 1" }).click();
    await page.getByRole("menuitem", { name: "Delete draft" }).click();
    await page.getByRole("button", { name: "Delete draft" }).click();
    await poll(
      "version 1 to go",
      async () => (await page.getByRole("link", { name: "Version 1" }).count()) === 0,
    );
    expect(
      complaints.filter(
        (text) =>
          !/events\/stream failed:|net::ERR_\S+ \S*events\/stream|status of 409 .*export\/csv/.test(text),
      ),
    ).toEqual([]);
    await page.close();
  });
});
