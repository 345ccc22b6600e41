// The set-up job as a process, on an empty database: it passes the name of its installation to the migrations.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "slonik";
import { expect, it } from "vitest";
import { z } from "zod";
import { nodeEnv } from "../tools/process.ts";
import { useDatabase } from "./support/postgres.ts";
import { useStorage } from "./support/s3.ts";

const database = useDatabase();
const store = useStorage();

it("job rows without a name, as the previous release adds them, belong to the installation that was set up", async () => {
  await database.execute(sql.fragment`drop schema public cascade`);
  await database.execute(sql.fragment`create schema public`);
  const env = {
    ...nodeEnv,
    ...store.config,
    PLOSIVE_DATABASE_URL: database.url,
    PLOSIVE_INSTALLATION: "studio/plosive",
  };
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, "../src/bootstrap.ts")], { env });
  const defaults = await database.pool.any(sql.type(z.object({ table: z.string(), value: z.string() }))`
    select table_name::text as table, column_default as value from information_schema.columns
    where table_schema = 'public' and column_name = 'installation' and column_default is not null order by 1`);
  expect(defaults).toEqual(
    ["embedding_jobs", "inference_jobs", "models", "training_jobs"].map((table) => ({
      table,
      value: "'studio/plosive'::text",
    })),
  );
});
