// src/db/schema.sql shows the schema that the migrations make. Not in test/db, which also runs on other versions of Postgres:
// their packages have no pg_dump.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Client } from "pg";
import { expect, it } from "vitest";
import { schemaFile, schemaOf, withReasons } from "../../tools/schema.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();

async function withClient(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Loads a schema into a new database and returns it as that database shows it. */
async function loaded(schema: string): Promise<string> {
  const name = `schema_${randomBytes(4).toString("hex")}`;
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  await withClient(database.url, (client) => client.query(`create database ${name} template template0`));
  try {
    await withClient(url.href, (client) => client.query(`set check_function_bodies = off; ${schema}`));
    return await schemaOf(url.href);
  } finally {
    await withClient(database.url, (client) => client.query(`drop database ${name} with (force)`));
  }
}

it("the committed schema.sql makes the same schema as the migrations (`make schema` writes it)", async () => {
  // Both are loaded, because each version of Postgres writes the same schema in its own way.
  expect(await loaded(readFileSync(schemaFile, "utf8"))).toBe(await loaded(await schemaOf(database.url)));
});

it("schema.sql shows above each function the migration that defines it, with its reasons", () => {
  const committed = readFileSync(schemaFile, "utf8");
  const [head, ...functions] = committed.split(/^(?=-- migrations\/)/m);
  const bare = functions.map((text) => text.replace(/^(--.*\n)+/, ""));
  expect(withReasons([head, ...bare].join(""))).toBe(committed);
  expect(functions).toHaveLength(committed.match(/^CREATE FUNCTION/gm)?.length ?? 0);
});
