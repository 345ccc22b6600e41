// Ways to the API from outside, the values files for some kinds of clusters, and the test of an installation.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { profiles } from "../../src/schemas/profile.ts";
import { images, one, parse, render, root, text } from "../support/chart.ts";

const set = (...sets: string[]) => sets.flatMap((each) => ["--set", each]);
const values = (name: string) => ["--values", join(root, `charts/plosive/values-${name}.yaml`)];

describe("the API from outside", () => {
  const outside = ["Ingress", "HTTPRoute"];

  it("is reached by nothing unless the values say so", async () => {
    expect((await render(...images)).filter(({ kind }) => outside.includes(kind))).toEqual([]);
  });

  it("is reached through an Ingress for each host", async () => {
    const manifests = await render(
      ...images,
      "api.ingress.enabled=true",
      "api.ingress.hosts={one.example.com,two.example.com}",
      "api.ingress.className=nginx",
      "api.ingress.tls[0].secretName=tls",
    );
    const service = { name: "plosive-api", port: { name: "http" } };
    const paths = [{ path: "/", pathType: "Prefix", backend: { service } }];
    expect(one(manifests, "Ingress", "plosive-api").spec).toEqual({
      ingressClassName: "nginx",
      rules: ["one", "two"].map((name) => ({ host: `${name}.example.com`, http: { paths } })),
      tls: [{ secretName: "tls" }],
    });
  });

  it("is reached through a Gateway, with streams without end", async () => {
    const manifests = await render(
      ...images,
      "api.httpRoute.enabled=true",
      "api.httpRoute.parentRefs[0].name=public",
      "api.httpRoute.hostnames={one.example.com}",
      "api.service.port=8080",
    );
    expect(one(manifests, "HTTPRoute", "plosive-api").spec).toEqual({
      parentRefs: [{ name: "public" }],
      hostnames: ["one.example.com"],
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/" } }],
          backendRefs: [{ name: "plosive-api", port: 8080 }],
          timeouts: { request: "0s" },
        },
      ],
    });
  });

  it.each([
    ["api.ingress.enabled=true", "api.ingress.hosts"],
    ["api.httpRoute.enabled=true", "api.httpRoute.parentRefs"],
  ])("refuses %s without %s", async (enabled, missing) => {
    await expect(render(...images, enabled)).rejects.toThrow(missing);
  });
});

describe("the values files", () => {
  const names = readdirSync(join(root, "charts/plosive"))
    .map((file) => /^values-(.+)\.yaml$/.exec(file)?.[1])
    .filter((name) => name !== undefined);

  it("are those of the guide", () => {
    expect(names.sort()).toEqual(["gpu", "local", "openshift", "production"]);
  });

  it("production has no embedded server, and no Secret that the chart makes but the certificate", async () => {
    const manifests = parse(await text([...set(...images.slice(0, 3)), ...values("production")]));
    expect(manifests.filter(({ kind }) => kind === "StatefulSet")).toEqual([]);
    const named = JSON.stringify(one(manifests, "Role", "plosive-secrets").rules);
    expect(named).toContain("plosive-runs-certificate");
    expect(named).not.toMatch(/plosive-(database|object-store|webhooks)"/);
  });

  it("gpu gives trainings a GPU, and the operator a queue of Kueue", async () => {
    const manifests = parse(await text([...set(...images), ...values("gpu")]));
    const data = one(manifests, "ConfigMap", "plosive-profiles").data!["profiles.json"]!;
    const { train, detect } = profiles.parse(JSON.parse(data)).default!;
    expect(train.resources?.limits).toMatchObject({ "nvidia.com/gpu": "1" });
    expect(detect.resources?.limits).not.toHaveProperty("nvidia.com/gpu");
    const { containers } = one(manifests, "Deployment", "plosive-operator").spec!.template!.spec;
    expect(containers[0]!.env).toContainEqual({ name: "PLOSIVE_KUEUE", value: "on" });
    expect(containers[0]!.env).toContainEqual({ name: "PLOSIVE_QUEUE_NAME", value: "plosive" });
  });

  it("openshift leaves the user ids to the platform, alone and on top of production", async () => {
    for (const files of [values("openshift"), [...values("production"), ...values("openshift")]]) {
      const rendered = await text([...set(...images), ...files]);
      expect(rendered).not.toMatch(/runAsUser|fsGroup:/);
      expect(rendered).toContain("route.openshift.io/termination: edge");
    }
  });
});

describe("helm test", () => {
  it.each([
    [200, 0],
    [503, 1],
  ])("asks the API whether it is ready: %i ends with %i", async (status, code) => {
    const server = createServer((request, response) => {
      response.writeHead(request.url === "/readyz" ? status : 404).end();
    });
    await promisify(server.listen.bind(server) as (port: number, done: () => void) => void)(0);
    const pod = one(await render(...images), "Pod", "plosive-test-api") as unknown as {
      metadata: { annotations: object };
      spec: { containers: [{ args: string[] }] };
    };
    expect(pod.metadata.annotations).toMatchObject({ "helm.sh/hook": "test" });
    const { port } = server.address() as AddressInfo;
    const args = pod.spec.containers[0].args.map((each) =>
      each.replace("http://plosive-api:80/", `http://127.0.0.1:${port}/`),
    );
    const run = promisify(execFile);
    const ended = await run(process.execPath, args).then(
      () => 0,
      (error: { code: number }) => error.code,
    );
    server.close();
    expect(ended).toBe(code);
  });
});
