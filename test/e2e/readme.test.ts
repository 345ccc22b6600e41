// The README's commands as they stand there: its blocks of shell run one after the other in one bash, as a reader pastes
// them. Only `make -s demo-info` is answered for the tests' cluster instead of the reader's.
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repoDir } from "../../tools/cache.ts";
import { kubectlPath } from "../../tools/demo/connection.ts";
import { composeVoices } from "../../tools/demo/voices.ts";
import { clusterName } from "./cluster.ts";
import { takes } from "./takes.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "plosive-readme-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const readme = readFileSync(join(repoDir, "README.md"), "utf8");
const usage = readme.slice(readme.indexOf("## Use it"), readme.indexOf("## Install"));
const blocks = [...usage.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? "");

beforeAll(async () => {
  const { train } = await composeVoices(takes);
  const inputs = train.paths.flatMap((path) => ["-i", path]);
  const filter = ["-filter_complex", `concat=n=${train.paths.length}:v=0:a=1`, "-ar", "16000", "-ac", "1"];
  await run("ffmpeg", ["-v", "error", ...inputs, ...filter, join(folder, "take-01.wav")]);
  const info = `exec ${process.execPath} ${join(repoDir, "tools/demo/info.ts")} --name ${clusterName}`;
  writeFileSync(join(folder, "make"), `#!/bin/sh\n[ "$*" = "-s demo-info" ] || exit 2\n${info}\n`);
  chmodSync(join(folder, "make"), 0o755);
});

test("the commands of the README go from an empty service to detections and to kubectl", async () => {
  expect(blocks).toHaveLength(3);
  const env = { ...process.env, PATH: `${folder}:${dirname(kubectlPath())}:${process.env.PATH}` };
  const script = ["set -e -o pipefail", ...blocks.flatMap((block, i) => [`echo "=== block ${i}"`, block])];
  const { stdout } = await run("bash", ["-c", script.join("\n")], { cwd: folder, env, maxBuffer: 1 << 26 });
  const [, list = "", way = "", kubectl = ""] = stdout.split(/^=== block \d\n/m);
  expect(JSON.parse(list)).toMatchObject({ page: 1, page_size: 20 });
  const statuses = [...way.matchAll(/^\{"status":"(\w+)"/gm)].map(([, status]) => status);
  expect(statuses.filter((status) => status === "completed")).toHaveLength(2);
  expect(statuses).not.toContain("failed");
  expect(way).toMatch(
    /^id,inference_file_id,audio_file_id,filename,artifact_type,start_ms,end_ms,confidence$/m,
  );
  expect(kubectl).toMatch(/^trainingjob\.plosive\.dev\/tj-\S+ +Succeeded +100 /m);
  expect(kubectl).toMatch(/^Name: +tj-/m);
  expect(kubectl).toMatch(/epochs/);
});
