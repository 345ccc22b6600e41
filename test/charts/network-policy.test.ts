// The network policies as rendered. test/e2e/network-policy.test.ts tries them on a cluster that enforces them.
import { describe, expect, it } from "vitest";
import { external, images, type Manifest, one, pods, render } from "../support/chart.ts";

type Rule = { to?: object[]; from?: object[]; ports?: { port: number }[] };
type Policy = {
  podSelector: { matchLabels: Record<string, string> };
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
};
const policyOf = (manifests: Manifest[], part: string) =>
  one(manifests, "NetworkPolicy", `plosive-${part}`).spec as unknown as Policy;
const policiesOf = (manifests: Manifest[]) =>
  manifests.filter(({ kind }) => kind === "NetworkPolicy").map(({ spec }) => spec as unknown as Policy);

describe("the network policies", () => {
  it("name for all pods of the chart what may reach them and what they may reach", async () => {
    const manifests = await render(...images);
    const policies = policiesOf(manifests);
    for (const { metadata, spec } of pods(manifests)) {
      const { labels } = spec!.template!.metadata;
      const [own, ...more] = policies.filter(({ podSelector }) =>
        Object.entries(podSelector.matchLabels).every(([key, value]) => labels[key] === value),
      );
      expect(own?.policyTypes, metadata.name).toEqual(["Ingress", "Egress"]);
      expect(more, metadata.name).toEqual([]);
    }
    expect(policyOf(manifests, "database").egress).toBeUndefined();
    for (const part of ["worker", "bootstrap", "secrets"])
      expect(policyOf(manifests, part).ingress, part).toBeUndefined();
    expect(await render(...images, "networkPolicy.enabled=false").then(policiesOf)).toEqual([]);
  });

  it("let no part reach the cloud's metadata service, by IPv4 or IPv6", async () => {
    const manifests = await render(...images.slice(0, 3), ...external);
    for (const part of ["worker", "api", "operator", "runs", "bootstrap"]) {
      const blocks = policyOf(manifests, part)
        .egress!.flatMap(({ to = [] }) => to as { ipBlock?: { cidr: string; except?: string[] } }[])
        .flatMap(({ ipBlock }) => ipBlock ?? []);
      expect(blocks.map(({ cidr }) => cidr)).toEqual(["0.0.0.0/0", "::/0"]);
      for (const { cidr, except } of blocks) expect(except, `${part} ${cidr}`).not.toBeUndefined();
    }
  });

  it("can be narrowed to a DNS service, and to an object store in the cluster", async () => {
    const peer = (name: string) => ({ podSelector: { matchLabels: { app: name } } });
    const set = (value: string, name: string) =>
      `networkPolicy.${value}[0].podSelector.matchLabels.app=${name}`;
    const manifests = await render(
      ...images,
      ...external,
      set("dns", "coredns"),
      set("objectStore", "minio"),
    );
    const dns = policiesOf(manifests).flatMap(({ egress = [] }) =>
      egress.filter(({ ports = [] }) => ports[0]?.port === 53),
    );
    expect(dns.length).toBeGreaterThan(4);
    for (const { to } of dns) expect(to).toEqual([peer("coredns")]);
    expect(policyOf(manifests, "worker").egress).toContainEqual({
      to: [peer("minio")],
      ports: [{ port: 9443, protocol: "TCP" }],
    });
  });

  it("name the ports that the network plug-in sees, where they are not those of a Service", async () => {
    const openshift = await render(
      ...images,
      ...external,
      "networkPolicy.ports.dns={53,5353}",
      "networkPolicy.ports.apiServer={16443}",
      "networkPolicy.ports.objectStore={9000}",
    );
    const portsOf = (part: string) =>
      policyOf(openshift, part).egress!.flatMap(({ ports = [] }) => ports.map(({ port }) => port));
    expect(portsOf("worker")).toEqual([53, 53, 5353, 5353, 8443, 9000]);
    expect(portsOf("secrets")).toEqual([53, 53, 5353, 5353, 16443]);
    for (const part of ["api", "operator", "runs", "bootstrap"]) expect(portsOf(part)).toContain(16443);
    // An empty list would mean all ports.
    await expect(render(...images, "networkPolicy.ports.dns={}")).rejects.toThrow("dns");
    await expect(render(...images, "networkPolicy.ports.dns=null")).rejects.toThrow("dns");
  });
});
