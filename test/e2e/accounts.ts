// Accounts of the installed service: the first one, which the main job uses, and one that the other end-to-end test files
// share. Called by the end-to-end tests.
import { findService } from "../../tools/demo/connection.ts";
import { makeUser, type User } from "../../tools/demo/user.ts";
import { clusterName, kubectl, namespace } from "./cluster.ts";
import { once } from "./shared.ts";

export interface Account {
  readonly tenant: string;
  readonly apiKey: string;
  readonly user: User;
}

const retryForMs = 120_000;
export const service = () => findService({ cluster: clusterName, namespace }, {});

export const findAddress = async (): Promise<string> => (await service()).base_url;

/** Runs plosive-admin in the operator's pod. */
export const admin = async (...args: string[]): Promise<string> =>
  (await kubectl("exec", "deploy/plosive-operator", "--", "plosive-admin", ...args)).trim();

/** The account that the installation made. */
export async function firstUser(): Promise<User> {
  const { base_url, api_key } = await service();
  return makeUser({ baseUrl: base_url, apiKey: api_key, retryForMs });
}

/** The account of the test files whose jobs may run side by side. */
export async function sharedAccount(): Promise<Account> {
  const { tenant, apiKey } = await once("account", async () => {
    const tenant = await admin("tenants", "create", "end to end");
    return { tenant, apiKey: await admin("keys", "create", "--tenant", tenant) };
  });
  return { tenant, apiKey, user: makeUser({ baseUrl: await findAddress(), apiKey, retryForMs }) };
}
