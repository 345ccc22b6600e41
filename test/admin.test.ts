// plosive-admin on a real database with the rights of its role: its output, its changes and its error messages.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { holdInstallation, releaseInstallation } from "../src/db/operator/installation.ts";
import { nodeEnv } from "../tools/process.ts";
import { adminOf } from "./support/admin.ts";
import { execute, useApi } from "./support/api.ts";
import { makeWorld } from "./support/world.ts";

const api = useApi();
const dir = mkdtempSync(join(tmpdir(), "plosive-admin-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const { address, admin, tenant } = adminOf(api);
const program = join(import.meta.dirname, "../src/admin.ts");

/** Runs plosive-admin as a process of its own. */
function run(args: string[], env: Record<string, string>) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [program, ...args], { env: { ...nodeEnv, ...env } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

describe("plosive-admin", () => {
  it("creates a tenant and a key that opens it, and prints nothing else to stdout, so that a script can store them", async () => {
    const made = await admin("tenants", "create", "north studio");
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^[0-9a-f-]{36}\n$/);
    const id = made.out.trim();
    expect(made.err).toContain(`keys create --tenant ${id}`);

    const key = await admin(
      "keys",
      "create",
      "--tenant",
      id,
      "--name",
      "ci",
      "--expires-at",
      "2999-01-01T00:00:00+01:00",
    );
    expect(key.out).toMatch(/^pl_[0-9A-Za-z]{46}\n$/);
    expect(key.err).not.toContain(key.out.trim());
    const listed = await api.as(key.out.trim()).get("/api/v1/auth/api-keys");
    expect(listed.body).toMatchObject([{ name: "ci", expires_at: "2998-12-31T23:00:00.000Z" }]);
  });

  it("revokes a key and suspends a tenant from the next request on, and resumes the tenant", async () => {
    const id = await tenant();
    const { id: keyId, key } = JSON.parse((await admin("keys", "create", "--tenant", id, "--json")).out);
    const other = (await admin("keys", "create", "--tenant", id)).out.trim();
    const statuses = async () => [
      (await api.as(key).get("/api/v1/datasets")).status,
      (await api.as(other).get("/api/v1/datasets")).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    expect((await admin("keys", "revoke", keyId)).code).toBe(0);
    expect(await statuses()).toEqual([401, 200]);
    expect((await admin("tenants", "suspend", id)).err).toContain("now suspended");
    expect(await statuses()).toEqual([401, 403]);
    expect((await admin("tenants", "suspend", id)).err).toContain("already suspended");
    await admin("tenants", "resume", id);
    expect(await statuses()).toEqual([401, 200]);
    const again = await admin("keys", "revoke", keyId);
    expect([again.code, again.out]).toEqual([1, ""]);
    expect(again.err).toMatch(/no key .* revoked already/);
  });

  it("lists tenants and keys, as columns and as JSON, and never shows a key", async () => {
    const id = await tenant("listed");
    const key = (await admin("keys", "create", "--tenant", id, "--name", "shown")).out.trim();
    const tenants = await admin("tenants", "list");
    expect(tenants.out).toMatch(/^ID +NAME +KEYS +CREATED +SUSPENDED\n/);
    expect(tenants.out).toMatch(new RegExp(`^${id}  listed +1 +\\S+  -$`, "m"));
    expect(JSON.parse((await admin("tenants", "list", "--json")).out)).toContainEqual({
      id,
      name: "listed",
      keys: 1,
      created_at: expect.stringMatching(/Z$/),
      suspended_at: null,
    });
    const keys = await admin("keys", "list", "--tenant", id);
    expect(keys.out).toMatch(new RegExp(`${key.slice(0, 8)}  shown`));
    expect(keys.out).not.toContain(key);
    expect(JSON.parse((await admin("keys", "list", "--tenant", id, "--json")).out)).toHaveLength(1);
  });

  it("lists installations, and moves the jobs of one that is gone to one that runs", async () => {
    const client = await api.tenant();
    await makeWorld(client, api.db);
    const jobs = sql.fragment`update inference_jobs set installation = 'old' where tenant_id = ${client.tenantId}`;
    await execute(api.db, jobs);
    const move = () => admin("installations", "move", "old", "new");
    expect(await move()).toMatchObject({
      code: 1,
      err: expect.stringMatching(/No operator .* new; start it/),
    });
    await holdInstallation(api.operatorPool, "old", "a lease", 30);
    await holdInstallation(api.operatorPool, "new", "another lease", 30);
    expect(await move()).toMatchObject({ code: 1, err: expect.stringMatching(/operator of old still runs/) });
    await releaseInstallation(api.operatorPool, "old", "a lease");
    const listed = await admin("installations", "list");
    expect(listed.out).toMatch(/^NAME +RUNNING +SEEN +OPEN JOBS\n/);
    expect(listed.out).toMatch(/^old +no +\S+Z +1$/m);
    expect(await move()).toMatchObject({ code: 0, out: "", err: expect.stringContaining("old to new: 1") });
    expect(JSON.parse((await admin("installations", "list", "--json")).out)).toContainEqual({
      name: "new",
      is_running: true,
      seen_at: expect.stringMatching(/Z$/),
      open_jobs: 1,
    });
    const noted = await api.db.anyFirst(sql.type(z.object({ reason: z.string() }))`
      select reason from audit_log where action = 'installation.moved'`);
    expect(noted).toEqual(["old to new"]);
  });

  it("records its actions in the audit log", async () => {
    const id = await tenant("audited");
    const { id: keyId } = JSON.parse((await admin("keys", "create", "--tenant", id, "--json")).out);
    await admin("keys", "revoke", keyId);
    await admin("tenants", "suspend", id);
    await admin("tenants", "resume", id);
    const noted = await api.db.any(sql.type(z.object({ action: z.string(), request_id: z.string() }))`
      select action, request_id from audit_log where tenant_id = ${id} order by id`);
    expect(noted).toEqual(
      ["tenant.created", "api_key.created", "api_key.revoked", "tenant.suspended", "tenant.resumed"].map(
        (action) => ({
          action,
          request_id: "plosive-admin",
        }),
      ),
    );
  });

  it.each([
    [[], 2, /^Usage: plosive-admin/],
    [["tenants"], 2, /no command "tenants"/],
    [["tenants", "burn", "x"], 2, /no command "tenants burn"/],
    [["tenants", "create"], 2, /NAME is missing/],
    [["tenants", "create", "two", "words"], 2, /unexpected argument "words"; quote/],
    [["keys", "create"], 2, /--tenant TENANT_ID is missing/],
    [["keys", "create", "--tenant", "x"], 2, /must be a UUID, not "x"/],
    [["keys", "create", "--tenant", randomUUID()], 1, /no tenant .* plosive-admin tenants list/],
    [["keys", "list", "--tenant", randomUUID(), "--color"], 2, /--color/],
    [["keys", "revoke", randomUUID()], 1, /no key/],
    [["tenants", "suspend", randomUUID()], 1, /no tenant/],
    [["embeddings", "renew", "--tenant", randomUUID()], 1, /no tenant/],
    [["embeddings", "renew", "--before", "yesterday"], 2, /--before must be a time with an offset/],
    [["embeddings", "renew", "all"], 2, /unexpected argument "all"/],
    [["installations", "list", "all"], 2, /unexpected argument "all"/],
    [["installations", "move", "here"], 2, /names of two installations/],
    [["installations", "move", "here", "here"], 2, /names of two installations/],
    [["installations", "move", "here", "there"], 1, /no installation here/],
  ])("with %j exits with %i and says what to do", async (args, code, words) => {
    const answer = await admin(...args);
    expect(answer.code).toBe(code);
    expect(answer.out + answer.err).toMatch(words);
    expect(answer.err).not.toContain("    at ");
  });

  it.each(["yesterday", "2001-01-01T00:00:00Z", "2999-01-01T00:00:00"])(
    "refuses to create a key that expires at %s",
    async (time) => {
      const answer = await admin("keys", "create", "--tenant", await tenant(), "--expires-at", time);
      expect([answer.code, answer.out]).toEqual([2, ""]);
      expect(answer.err).toContain("--expires-at");
    },
  );

  it("runs as in the pod, with a file that contains only the database settings", async () => {
    const file = join(dir, "url");
    writeFileSync(file, address());
    const made = await run(["tenants", "create", "from a pod"], { PLOSIVE_DATABASE_URL_FILE: file });
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
    expect((await run(["tenants"], {})).code).toBe(2);
  });

  it("reports a missing database setting and an unreachable database", async () => {
    const unconfigured = await run(["tenants", "list"], {});
    expect([unconfigured.code, unconfigured.out]).toEqual([1, ""]);
    expect(unconfigured.err).toMatch(/^plosive-admin: .*PLOSIVE_DATABASE_URL/s);
    const unreachable = await run(["tenants", "list"], {
      PLOSIVE_DATABASE_URL: "postgres://x@127.0.0.1:1/x",
    });
    expect(unreachable.code).toBe(1);
    expect(unreachable.err).toMatch(/^plosive-admin: .*ECONNREFUSED/s);
  });

  it("does nothing as the API's database user, and names the pod to run it in", async () => {
    const url = new URL(address());
    url.username = "test_plosive_api";
    const refused = await run(["tenants", "list"], { PLOSIVE_DATABASE_URL: url.href });
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toMatch(/permission denied .*\n.*operator's pod/);
  });

  it("prints its help", async () => {
    const help = await admin("--help");
    expect(help.code).toBe(0);
    expect(help.out).toContain("keys revoke KEY_ID");
  });
});
