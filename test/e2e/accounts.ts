// Accounts of the installed service: the first one, and others made by hand so that tests do not see each other's
// jobs. Called by the end-to-end tests.
import { findService } from "../../tools/demo/connection.ts";
import { makeUser, type User } from "../../tools/demo/user.ts";
import { clusterName, kubectl, namespace } from "./cluster.ts";

export interface Account {
  readonly tenant: string;
  readonly user: User;
}

const retryForMs = 120_000;
const service = () => findService({ cluster: clusterName, namespace }, {});

export const findAddress = async (): Promise<string> => (await service()).base_url;

/** Runs plosive-admin where it lies. */
export const admin = async (...args: string[]): Promise<string> =>
  (await kubectl("exec", "deploy/plosive-operator", "--", "plosive-admin", ...args)).trim();

/** The account that the installation made. */
export async function firstUser(): Promise<User> {
  const { base_url, api_key } = await service();
  return makeUser({ baseUrl: base_url, apiKey: api_key, retryForMs });
}

export async function openAccount(name: string): Promise<Account> {
  const tenant = await admin("tenants", "create", name);
  const apiKey = await admin("keys", "create", "--tenant", tenant);
  return { tenant, user: makeUser({ baseUrl: await findAddress(), apiKey, retryForMs }) };
}
