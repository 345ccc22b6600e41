// The cleanup after a test run: it ends all processes of the run, including detached ones, and no others.
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { endProcessesWith, processesWith } from "../../../tools/testing/leftovers.ts";

const patience = { timeout: 30_000 };

test("the cleanup finds a detached grandchild by its environment, ends it, and leaves other processes alone", async () => {
  const [name, value] = ["PLOSIVE_LEFTOVER_TEST", `${process.pid}-${Date.now()}`];
  const sleeper = (word: string) =>
    spawn("bash", ["-c", "setsid sleep 60 & echo started; wait"], {
      env: { ...process.env, [name]: word },
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
  const [mine, other] = [sleeper(value), sleeper("another")];
  await Promise.all(
    [mine, other].map((child) => new Promise((resolve) => child.stdout.once("data", resolve))),
  );
  try {
    await expect
      .poll(() => processesWith(name, value).map(({ command }) => command), patience)
      .toContain("sleep 60");
    expect(endProcessesWith(name, value).length).toBeGreaterThanOrEqual(2);
    await expect.poll(() => processesWith(name, value), patience).toEqual([]);
    expect(processesWith(name, "another").length).toBeGreaterThan(0);
  } finally {
    endProcessesWith(name, "another");
  }
  expect(endProcessesWith(name, value)).toEqual([]);
}, 90_000);
