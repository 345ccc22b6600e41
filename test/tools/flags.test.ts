// The command lines of the control plane: flags that tests and the full cluster share, and security flags that must
// never be missing.
import { expect, test } from "vitest";
import {
  apiServerFlags,
  controllerManagerFlags,
  etcdFlags,
  type Place,
  schedulerFlags,
} from "../../tools/cluster/flags.ts";
import { pkiAt } from "../../tools/cluster/pki.ts";

const alone: Place = {
  dir: "/data",
  pki: pkiAt("/data/pki"),
  address: "127.0.0.1",
  ports: { etcd: 1001, etcdPeer: 1002, api: 1003 },
  serviceRange: "10.96.0.0/16",
  hasNode: false,
};
const full: Place = { ...alone, address: "10.90.0.2", hasNode: true };

/** `--name=value` as a map; a flag without a value is "". */
const parse = (flags: readonly string[]) =>
  new Map(flags.map((flag) => /^--([^=]+)=?(.*)$/.exec(flag)?.slice(1, 3) as [string, string]));

test.each([
  { name: "alone", place: alone },
  { name: "with a node", place: full },
])(
  "an API server $name authorizes by Node and RBAC, enforces Pod Security, and refuses anonymous requests",
  ({ place }) => {
    const flags = parse(apiServerFlags(place));
    expect(flags.get("authorization-mode")).toBe("Node,RBAC");
    expect(flags.get("enable-admission-plugins")?.split(",")).toContain("PodSecurity");
    expect(flags.get("anonymous-auth")).toBe("false");
    expect(flags.get("bind-address")).toBe(place.address);
    expect(flags.get("secure-port")).toBe("1003");
  },
);

test("only an API server with a node publishes its endpoint and calls the kubelet by its address", () => {
  expect(parse(apiServerFlags(alone)).get("endpoint-reconciler-type")).toBe("none");
  expect(parse(apiServerFlags(alone)).has("kubelet-client-certificate")).toBe(false);
  expect(parse(apiServerFlags(full)).has("endpoint-reconciler-type")).toBe(false);
  expect(parse(apiServerFlags(full)).get("kubelet-preferred-address-types")).toBe("InternalIP");
});

test("etcd listens on loopback only and the API server finds it there", () => {
  const etcd = parse(etcdFlags(full));
  for (const flag of ["listen-client-urls", "listen-peer-urls"])
    expect(etcd.get(flag)).toMatch(/^http:\/\/127\.0\.0\.1:/);
  expect(parse(apiServerFlags(full)).get("etcd-servers")).toBe(etcd.get("advertise-client-urls"));
});

test("the API server verifies tokens with the public half of the key that signs them", () => {
  const api = parse(apiServerFlags(alone));
  expect(parse(controllerManagerFlags(alone)).get("service-account-private-key-file")).toBe(
    api.get("service-account-signing-key-file"),
  );
  expect(api.get("service-account-key-file")).toBe("/data/pki/service-accounts.pub");
});

test("controller-manager and scheduler open no port, so that control planes can run side by side", () => {
  for (const flags of [controllerManagerFlags(alone), schedulerFlags(alone)]) {
    expect(parse(flags).get("secure-port")).toBe("0");
    expect(parse(flags).get("leader-elect")).toBe("false");
  }
});
