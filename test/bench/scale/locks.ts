// The longest time that a client's statement takes while something else runs. Called by main.ts.
import { Client } from "pg";

/** Short statements of a client, each of which takes the locks that requests take. */
const statements = [
  "update datasets set description = 'x' where tenant_id = $1 and name = 'dataset 2'",
  "update annotation_sets set revision = revision + 1 where tenant_id = $1 and version = 1",
  "update audio_files set filename = filename where tenant_id = $1 and filename = 'take 1.wav'",
  `update annotations set end_ms = end_ms where tenant_id = $1 and annotation_set_id = (
    select id from annotation_sets where tenant_id = $1 and status = 'draft' limit 1) and start_ms = 1`,
  "update training_jobs set progress_percent = 100 where tenant_id = $1 and created_at > now() - interval '5 minutes'",
  "select count(*) from inference_jobs where tenant_id = $1",
  "select count(*) from events where tenant_id = $1 and seq < 100",
  "select count(*) from webhooks where tenant_id = $1",
];

/** Runs `work` while one connection per statement repeats it. Returns the longest time in ms. */
export async function longestWait(
  url: string,
  tenant: string,
  work: () => Promise<unknown>,
): Promise<number> {
  let isOver = false;
  let longest = 0;
  const clients = statements.map(async (text) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    while (!isOver) {
      const begin = performance.now();
      await client.query(text, [tenant]);
      longest = Math.max(longest, performance.now() - begin);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await client.end();
  });
  await work();
  isOver = true;
  await Promise.all(clients);
  return longest;
}
