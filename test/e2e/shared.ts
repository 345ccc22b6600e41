// Values that several end-to-end test files share and the first of them creates: the test files run in separate
// processes, one after the other, so a file passes the values on. Called by takes.ts, resume.test.ts and kueue.test.ts.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";

/** Folder of one run of the tests; global-setup.ts deletes it. */
export const sharedFolder = (mark: string) => join(tmpdir(), `plosive-e2e-${mark}`);

/** The value that `make` returned at the first call with this name in this run. It must be JSON. */
export async function once<T>(name: string, make: () => Promise<T>): Promise<T> {
  const folder = sharedFolder(inject("mark"));
  const file = join(folder, `${name}.json`);
  try {
    return JSON.parse(readFileSync(file, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const value = await make();
  mkdirSync(folder, { recursive: true });
  // It holds an API key.
  writeFileSync(`${file}.new`, JSON.stringify(value), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return value;
}
