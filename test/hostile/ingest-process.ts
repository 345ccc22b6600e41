// Ingests one result as the operator does, in a process of its own that can be killed. Started by ingest-kill.test.ts
// with the address of the database and the delivery as a JSON file.
import { readFileSync } from "node:fs";
import { makeDatabase, statementTimeoutMs } from "../../src/db/driver/pool.ts";
import { takeIn } from "./delivery.ts";

const config = { PLOSIVE_DATABASE_URL: process.env.DATABASE_URL ?? "", PLOSIVE_DATABASE_POOL: 2 };
const db = await makeDatabase(config, statementTimeoutMs.operator, "plosive_operator");
await takeIn(db, JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
await db.end();
