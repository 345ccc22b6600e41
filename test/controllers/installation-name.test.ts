// The name of an installation: operators with one identity share it, a second identity waits, and a leader whose name was
// taken stops. Real Postgres.
import { sql } from "slonik";
import { afterEach, expect, it } from "vitest";
import { keepName, type NameKeeper } from "../../controllers/installation.ts";
import { holdInstallation, manyInstallations } from "../../src/db/operator/installation.ts";
import { makeLog } from "../../src/log.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();
const keepers: NameKeeper[] = [];

/** With a limit of silence that no test reaches, unless it gives another one. */
function keep(identity: string, staleMs = 600_000) {
  const errors: string[] = [];
  const warnings: string[] = [];
  const log = {
    ...makeLog("test", "silent"),
    error: (_: object, text: string) => void errors.push(text),
    warn: (_: object, text: string) => void warnings.push(text),
  };
  const keeper = keepName({
    db: database.operatorPool,
    name: "studio",
    identity,
    log: log as ReturnType<typeof makeLog>,
    everyMs: 20,
    staleMs,
  });
  keepers.push(keeper);
  let isHeld = false;
  keeper.held.then((held) => {
    isHeld = held;
  });
  return Object.assign(keeper, { errors, warnings, isHeld: () => isHeld });
}
afterEach(async () => {
  await Promise.all(keepers.splice(0).map((keeper) => keeper.stop()));
  await database.execute(sql.fragment`delete from installations`);
});

it("two replicas of one operator have the same name at once, so a fail-over does not wait", async () => {
  expect(await keep("lease").held).toBe(true);
  expect(await keep("lease").held).toBe(true);
});

it("an operator in another cluster does not begin to work and says what to do, until the first one has shut down", async () => {
  const first = keep("lease");
  expect(await first.held).toBe(true);
  const second = keep("another lease");
  await poll("its complaint", () => second.errors.length > 1);
  expect(second.errors[0]).toMatch(/same name; set another name .*PLOSIVE_INSTALLATION/);
  expect(first.errors).toEqual([]);
  await poll("more complaints", () => second.errors.length > 5);
  expect(second.isHeld()).toBe(false);
  await first.stop();
  expect(await second.held).toBe(true);
});

it("a leader that was killed leaves the name to the operator of a new Lease when it has been silent for long enough", async () => {
  await holdInstallation(database.operatorPool, "studio", "lease of a killed one", 30);
  const next = keep("new lease", 30_000);
  await poll("its complaint", () => next.errors.length > 0);
  await database.execute(sql.fragment`update installations set seen_at = now() - interval '31 seconds'`);
  expect(await next.held).toBe(true);
});

it("a leader whose name was taken while it was silent learns it, and one that is stopped before it has the name goes without", async () => {
  const first = keep("lease");
  expect(await first.held).toBe(true);
  await database.execute(sql.fragment`update installations set identity = 'another lease'`);
  await first.lost;
  expect(first.errors).toHaveLength(1);
  const waiting = keep("third lease");
  await poll("its complaint", () => waiting.errors.length > 0);
  await waiting.stop();
  expect(await waiting.held).toBe(false);
  const [row] = await manyInstallations(database.operatorPool);
  expect(row).toMatchObject({ name: "studio", is_running: true });
});

it("an operator that cannot record the name tries again, and keeps a name that it has", async () => {
  const leader = keep("lease");
  expect(await leader.held).toBe(true);
  await database.execute(sql.fragment`alter table installations rename to away`);
  const standby = keep("lease");
  await poll("both to fail", () => leader.warnings.length > 1 && standby.warnings.length > 1);
  expect(standby.isHeld()).toBe(false);
  await database.execute(sql.fragment`alter table away rename to installations`);
  expect(await standby.held).toBe(true);
  expect([...leader.errors, ...standby.errors]).toEqual([]);
});
