// Many sign-ins at once: the provider gets only a few of them at a time, and hardly any that are made up.
import { beforeEach, expect, it } from "vitest";
import { type ServedApi, serveApi, testDeps } from "../support/api.ts";
import { send } from "../support/dashboard.ts";
import { type Begun, publicUrl, refusalIn, useOidc } from "../support/oidc-sign-in.ts";

const oidc = useOidc();
const { api, provider, roles } = oidc;

beforeEach(async () => {
  const { tenantId } = await api.tenant();
  roles.splice(0, roles.length, { value: "labellers", tenant: tenantId, role: "labeller" });
  provider.user = { sub: "ada-1", name: "Ada", groups: ["labellers"] };
  provider.exchangeMs = 100;
  provider.mostExchanges = 0;
});

/** An API behind one proxy. */
async function served(more: object, work: (own: ServedApi) => Promise<void>) {
  const config = { ...oidc.settings(), PLOSIVE_TRUSTED_PROXIES: 1, ...more };
  const own = await serveApi({ ...testDeps(api.pool, api.storage), config });
  await work(own).finally(() => own.stop());
}

const from = ({ url }: ServedApi, address: string, { cookie, callback }: Begun) =>
  send(url, "GET", callback.href.slice(publicUrl.length), {
    headers: { Cookie: cookie, "X-Forwarded-For": address, "X-Forwarded-Proto": "https" },
  });
const count = (length: number) => Array.from({ length }, (_, i) => i);

it.each([
  ["of one network two at a time", 1, 6, 2],
  ["of all networks ten at a time", 12, 2, 10],
])("are passed on %s, and all succeed", async (_, networks, each, most) => {
  await served({}, async (own) => {
    const begun = await Promise.all(count(networks * each).map(() => oidc.begin("", own.url)));
    const answers = await Promise.all(begun.map((one, i) => from(own, `192.0.2.${i % networks}`, one)));
    expect(answers.map(({ headers }) => headers.location)).toEqual(begun.map(() => "../"));
    expect(provider.mostExchanges).toBeLessThanOrEqual(most);
  });
});

it("that are made up stop at the limit of failures of their network, also when they come at once", async () => {
  const few = { PLOSIVE_FAILED_KEYS_PER_SECOND: 0.01, PLOSIVE_FAILED_KEYS_BURST: 3 };
  await served(few, async (own) => {
    const begun = await oidc.begin("", own.url);
    const before = provider.exchanges;
    const answers = await Promise.all(
      count(60).map((i) => {
        const callback = new URL(begun.callback);
        callback.searchParams.set("code", `made-up-${i}`);
        return from(own, "192.0.2.1", { ...begun, callback });
      }),
    );
    // The last place may be taken when the limit is reached.
    expect(provider.exchanges - before).toBeLessThanOrEqual(4);
    expect(answers.map(refusalIn).filter((code) => code === "rate_limited").length).toBeGreaterThanOrEqual(
      56,
    );
  });
});
