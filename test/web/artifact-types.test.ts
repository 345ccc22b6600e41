// The artifact types of a dataset: what is typed is not lost, and nothing of somebody else is overwritten.
import { expect, it } from "vitest";
import { artifactTypes, newDataset, useDashboard } from "../support/dashboard-page.ts";
import { poll } from "../support/poll.ts";

const dashboard = useDashboard();

it("of somebody else are shown and joined, not overwritten", async () => {
  const client = await dashboard.api.tenant();
  const id = await newDataset(client);
  const { page } = await dashboard.open(client, `datasets/${id}?tab=types`);
  await page.getByLabel("Name", { exact: true }).first().fill("mouth click");
  const theirs = [artifactTypes[0], { name: "hum", description: "of the mains" }, { name: "breath" }];
  await client.patch(`/api/v1/datasets/${id}`, { artifact_types: theirs });
  await page.getByRole("button", { name: "Save types" }).click();
  await page.getByText("Somebody else changed this meanwhile").waitFor();
  const names = (await client.get(`/api/v1/datasets/${id}`)).body.artifact_types;
  expect(names.map(({ name }: { name: string }) => name)).toEqual(["click", "hum", "breath"]);
  await poll("the number of the other one's types", async () =>
    (await page.getByRole("tab", { name: /Artifact types/ }).innerText()).includes("3"),
  );
  await page.getByRole("button", { name: "Try again" }).click();
  const shown = () =>
    page
      .getByLabel("Name", { exact: true })
      .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value));
  await poll("both changes", async () => String(await shown()) === "mouth click,hum,breath");
  // Again, after what was joined.
  await client.patch(`/api/v1/datasets/${id}`, {
    artifact_types: [artifactTypes[0], { name: "hum", description: "of the mains" }, { name: "hiss" }],
  });
  await page.getByRole("button", { name: "Save types" }).click();
  await page.getByText("Somebody else changed this meanwhile").waitFor();
  await poll("the third type of theirs", async () => {
    await page.getByRole("button", { name: "Try again" }).click();
    if (String(await shown()) === "mouth click,hum,hiss") return true;
    await page.getByRole("button", { name: "Save types" }).click();
    await page.getByText("Somebody else changed this meanwhile").waitFor();
    return false;
  });
  await page.getByRole("button", { name: "Save types" }).click();
  await page.getByText("Saved the artifact types").waitFor();
  const saved = (await client.get(`/api/v1/datasets/${id}`)).body.artifact_types;
  expect(saved).toMatchObject([
    { name: "mouth click" },
    { name: "hum", description: "of the mains" },
    { name: "hiss" },
  ]);
  await page.close();
});

it("are not lost to another tab of the page without a question", async () => {
  const client = await dashboard.api.tenant();
  const id = await newDataset(client);
  const { page } = await dashboard.open(client, `datasets/${id}?tab=types`);
  const first = page.getByLabel("Name", { exact: true }).first();
  await first.fill("mouth click");
  const asked: string[] = [];
  page.on("dialog", (dialog) => {
    asked.push(dialog.message());
    void (asked.length === 1 ? dialog.dismiss() : dialog.accept());
  });
  await page.getByRole("tab", { name: /^Audio/ }).click();
  await poll("the question", () => asked.length === 1);
  expect(asked[0]).toContain("The artifact types are not saved.");
  expect(await first.inputValue()).toBe("mouth click");
  await page.getByRole("tab", { name: /^Audio/ }).click();
  await poll("the other tab", async () => (await first.count()) === 0);
  await page.close();
});
