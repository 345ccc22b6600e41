// The commands of docs/backup.md, as they stand there, with the values of a test in place of the words that a reader replaces.
// Called by the tests of this folder.
import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { kubectlPath } from "../../tools/demo/connection.ts";
import { serverPrograms } from "../../tools/postgres.ts";
import type { S3Server } from "../../tools/s3.ts";
import { blockOf } from "../support/documents.ts";

const run = promisify(execFile);

export interface Reader {
  /** Where the files of the backup are. */
  readonly folder: string;
  readonly kubeconfig: string;
  readonly ownerUrl: string;
  readonly bucket: S3Server;
  readonly copy: S3Server;
}

/** Runs the block of shell that begins with `start`, and rejects when its last command fails. */
export async function follow(
  { folder, kubeconfig, ownerUrl, bucket, copy }: Reader,
  start: string,
  replace: Readonly<Record<string, string>> = {},
): Promise<void> {
  let script = blockOf("docs/backup.md", start);
  for (const [word, value] of Object.entries(replace)) {
    if (!script.includes(word)) throw new Error(`the commands of docs/backup.md have no "${word}"`);
    script = script.replaceAll(word, value);
  }
  // rclone does not start with an authority of AWS's own variable.
  const { AWS_CA_BUNDLE: _, ...env } = process.env;
  await run("bash", ["-c", script], {
    cwd: folder,
    maxBuffer: 1 << 26,
    env: {
      ...env,
      ...{ ...remote("FROM", bucket), ...remote("TO", copy) },
      PATH: `${serverPrograms()}:${dirname(kubectlPath())}:${env.PATH}`,
      KUBECONFIG: kubeconfig,
      OWNER_URL: ownerUrl,
    },
  });
}

/** Environment that makes a server a remote of rclone. */
const remote = (name: string, { endpoint, region, accessKey, secretKey }: S3Server): NodeJS.ProcessEnv => ({
  [`RCLONE_CONFIG_${name}_TYPE`]: "s3",
  [`RCLONE_CONFIG_${name}_PROVIDER`]: "Other",
  [`RCLONE_CONFIG_${name}_ENDPOINT`]: endpoint,
  [`RCLONE_CONFIG_${name}_REGION`]: region,
  [`RCLONE_CONFIG_${name}_ACCESS_KEY_ID`]: accessKey,
  [`RCLONE_CONFIG_${name}_SECRET_ACCESS_KEY`]: secretKey,
});
