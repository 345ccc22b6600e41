// The commands of docs/, as they stand there, with the values of a test in place of the words that a reader replaces. Called by the
// tests of this folder.
import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { tool } from "../../tools/cache.ts";
import { serverPrograms } from "../../tools/postgres.ts";
import type { S3Access } from "../../tools/s3.ts";
import { blockOf } from "../support/documents.ts";

const run = promisify(execFile);

export interface Reader {
  /** Where the reader's files are. */
  readonly folder: string;
  readonly kubeconfig: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** The text with each word replaced. Rejects a word that it does not have. */
export function replaced(text: string, words: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [word, value] of Object.entries(words)) {
    if (!result.includes(word)) throw new Error(`the guide has no "${word}" in: ${text}`);
    result = result.replaceAll(word, value);
  }
  return result;
}

/** Runs the block of shell of a document that begins with `start`, and rejects when a command fails. */
export const follow = (
  reader: Reader,
  file: string,
  start: string,
  words: Readonly<Record<string, string>> = {},
): Promise<void> => bash(reader, replaced(blockOf(file, start), words));

export async function bash({ folder, kubeconfig, env }: Reader, script: string): Promise<void> {
  // rclone does not start with an authority of AWS's own variable.
  const { AWS_CA_BUNDLE: _, ...own } = process.env;
  await run("bash", ["-e", "-o", "pipefail", "-c", script], {
    cwd: folder,
    maxBuffer: 1 << 26,
    env: {
      ...own,
      PATH: `${serverPrograms()}:${dirname(tool("kubectl"))}:${dirname(tool("helm"))}:${own.PATH}`,
      KUBECONFIG: kubeconfig,
      ...env,
    },
  });
}

/** Environment of the commands of docs/backup.md. `ca`: a file with the authority of the servers. */
export const backupEnv = (given: {
  readonly ownerUrl: string;
  readonly bucket: S3Access;
  readonly copy: S3Access;
  readonly ca?: string;
}): NodeJS.ProcessEnv => ({
  ...{ ...remote("FROM", given.bucket), ...remote("TO", given.copy) },
  OWNER_URL: given.ownerUrl,
  ...(given.ca !== undefined && { PGSSLROOTCERT: given.ca, RCLONE_CA_CERT: given.ca }),
});

/** Environment that makes a server a remote of rclone. */
const remote = (name: string, { endpoint, region, accessKey, secretKey }: S3Access): NodeJS.ProcessEnv => ({
  [`RCLONE_CONFIG_${name}_TYPE`]: "s3",
  [`RCLONE_CONFIG_${name}_PROVIDER`]: "Other",
  [`RCLONE_CONFIG_${name}_ENDPOINT`]: endpoint,
  [`RCLONE_CONFIG_${name}_REGION`]: region,
  [`RCLONE_CONFIG_${name}_ACCESS_KEY_ID`]: accessKey,
  [`RCLONE_CONFIG_${name}_SECRET_ACCESS_KEY`]: secretKey,
});
