// Runs the programs of a release: skopeo, syft, cosign, helm, npm. Called by the other files of this folder.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { tool } from "../cache.ts";

const run = promisify(execFile);

/** Returns stdout. Rejects with what was attempted and the end of the program's output. */
export async function program(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  try {
    return (await run(command, args, { ...options, maxBuffer: 1 << 28 })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const lines = `${stdout}${stderr}`.trim().split("\n").slice(-20).join("\n");
    throw new Error(`${command} ${args.slice(0, 2).join(" ")} failed:\n${lines || String(error)}`);
  }
}

/** The place of a pinned program, such as cosign. */
export const releaseTool = (name: string): string => tool(name, "tools/build.sh cosign syft helm");

/** Signing with a key alone: no certificate of a public service, and no entry in a public log. */
export const offline = ["--tlog-upload=false", "--use-signing-config=false", "--yes"];

/** Without COSIGN_PASSWORD, the key has to be one without a password. */
export const cosign = (args: readonly string[]): Promise<string> =>
  program(releaseTool("cosign"), args, {
    env: { ...process.env, COSIGN_PASSWORD: process.env.COSIGN_PASSWORD ?? "" },
  });

/** Fails early if the key cannot be read: the signature is the last step of a build. */
export async function checkKey(key: string): Promise<void> {
  try {
    await cosign(["public-key", "--key", key]);
  } catch (error) {
    throw new Error(
      `cannot use the private key ${key}; is it one of cosign, and is its password in COSIGN_PASSWORD?\n${error}`,
    );
  }
}
