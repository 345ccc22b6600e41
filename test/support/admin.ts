// plosive-admin in the test's own process, on the API's database and with the rights of its own role.
import { randomBytes } from "node:crypto";
import { runAdmin } from "../../src/admin.ts";
import { makeDatabase, statementTimeoutMs } from "../../src/db/driver/pool.ts";
import type { useApi } from "./api.ts";
import { loginOf } from "./postgres.ts";

export function adminOf(api: ReturnType<typeof useApi>) {
  const address = () => {
    const url = new URL(loginOf(api.pool.configuration.connectionUri, "plosive_admin"));
    url.search = "";
    return url.href;
  };

  /** Runs in this process, since starting Node for each command would take most of the time. */
  async function admin(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const output = { out: "", err: "" };
    const code = await runAdmin(args, {
      database: () =>
        makeDatabase(
          { PLOSIVE_DATABASE_URL: address(), PLOSIVE_DATABASE_POOL: 1 },
          statementTimeoutMs.operator,
          "plosive_admin",
        ),
      random: randomBytes,
      now: Date.now,
      out: (text) => {
        output.out += text;
      },
      err: (text) => {
        output.err += text;
      },
    });
    return { code, ...output };
  }

  async function tenant(name = "studio"): Promise<string> {
    return (await admin("tenants", "create", name)).out.trim();
  }

  return { address, admin, tenant };
}
