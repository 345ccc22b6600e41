// The rendered Helm chart: it sets every variable of src/config.ts, its pods meet Pod Security "restricted", it
// contains no secret as text, external servers replace the embedded ones, and wrong values are refused with a reason.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  apiRules,
  kueueClusterRules,
  kueueRules,
  operatorClusterRules,
  operatorRules,
  runsClusterRules,
  runsRules,
} from "../../controllers/rbac.ts";
import { profiles } from "../../src/schemas/profile.ts";
import {
  external,
  images,
  type Manifest,
  nameOf,
  oidc,
  one,
  type Probe,
  pods,
  render,
  root,
} from "../support/chart.ts";

describe("the chart", () => {
  it("sets every variable that the API and the operator read", async () => {
    const text = ["src/config.ts", "src/tracing.ts"]
      .map((file) => readFileSync(join(root, file), "utf8"))
      .join("\n");
    const names = [...text.matchAll(/^\s+(PLOSIVE_[A-Z0-9_]+):/gm)].map((match) => match[1]!);
    expect(names.length).toBeGreaterThan(20);
    const set = pods(
      await render(
        ...images,
        ...oidc,
        "objectStore.publicEndpoint=https://s3.example.com",
        "tracing.endpoint=http://collector:4318",
      ),
    )
      .flatMap((manifest) => manifest.spec!.template!.spec.containers)
      .flatMap((container) => container.env ?? [])
      .map((variable) => variable.name.replace(/_FILE$/, ""));
    // In a cluster the pod's own service account is used; the others have a default that fits everywhere.
    const outside = [
      "PLOSIVE_KUBECONFIG",
      "PLOSIVE_RUNS_AUDIENCE",
      "PLOSIVE_BOOTSTRAP_WAIT_SECONDS",
      "PLOSIVE_DASHBOARD_DIR",
    ];
    expect(
      names.filter((name) => !set.includes(name.replace(/_FILE$/, "")) && !outside.includes(name)),
    ).toEqual([]);
  });

  it("gives the operator, which sends to webhooks, the settings with which the API accepts and encrypts them", async () => {
    const manifests = await render(...images, "api.webhooks.allowedOrigins={http://hooks.example:8080}");
    const [api, operator] = ["plosive-api", "plosive-operator"].map((name) => {
      const { containers, volumes = [] } = one(manifests, "Deployment", name).spec!.template!.spec;
      return {
        env: containers[0]!.env?.filter((variable) => variable.name.startsWith("PLOSIVE_WEBHOOK_")),
        volume: volumes.filter(({ secret }) => secret?.secretName === "plosive-webhooks"),
      };
    });
    expect(api?.env).toContainEqual({
      name: "PLOSIVE_WEBHOOK_ALLOWED_ORIGINS",
      value: "http://hooks.example:8080",
    });
    expect(api?.volume).toHaveLength(1);
    expect(operator).toEqual(api);
  });

  it("runs every pod under Pod Security restricted, with a memory limit and a read-only root", async () => {
    const manifests = pods(await render(...images));
    expect(manifests.map(nameOf).sort()).toEqual([
      "plosive-api",
      "plosive-bootstrap",
      "plosive-database",
      "plosive-object-store",
      "plosive-operator",
      "plosive-runs",
      "plosive-secrets",
    ]);
    for (const manifest of manifests) {
      const { spec } = manifest.spec!.template!;
      expect(spec.securityContext, manifest.metadata.name).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      });
      for (const container of spec.containers) {
        expect(container.securityContext, manifest.metadata.name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(container.resources?.limits?.memory, manifest.metadata.name).toMatch(/^\d+(Mi|Gi)$/);
      }
    }
  });

  const clusterRulesOf = (manifests: Manifest[], part: string) =>
    one(manifests, "ClusterRole", `plosive-voices-${part}`).rules;

  it("gives the API, the operator and the run endpoint exactly the rules that their code declares", async () => {
    const manifests = await render(...images, "operator.queueing.kueue=never");
    expect(one(manifests, "Role", "plosive-operator").rules).toEqual(operatorRules);
    expect(one(manifests, "Role", "plosive-api").rules).toEqual(apiRules);
    expect(one(manifests, "Role", "plosive-runs").rules).toEqual(runsRules);
    expect(manifests.filter(({ kind }) => kind === "ClusterRole")).toHaveLength(2);
    expect(clusterRulesOf(manifests, "operator")).toEqual(operatorClusterRules);
    expect(clusterRulesOf(manifests, "runs")).toEqual(runsClusterRules);
  });

  it("passes a plug-in encoder to the run endpoint, and refuses a value that is not a folder of the bucket", async () => {
    const encoder = async (value: string) =>
      one(
        await render(...images, `encoder=${value}`),
        "Deployment",
        "plosive-runs",
      ).spec?.template?.spec.containers[0]?.env?.find(({ name }) => name === "PLOSIVE_ENCODER")?.value;
    expect(await encoder("")).toBe("");
    expect(await encoder("encoders/wide-speech/1")).toBe("encoders/wide-speech/1");
    await expect(encoder("https://example.org/model.onnx")).rejects.toThrow(/encoder/);
    await expect(encoder("encoders/../audio")).rejects.toThrow(/encoder/);
  });

  it("gives all processes one name of the installation, and refuses one that they would refuse", async () => {
    const names = async (...sets: string[]) =>
      pods(await render(...images, ...sets))
        .flatMap((manifest) => manifest.spec!.template!.spec.containers[0]!.env ?? [])
        .flatMap(({ name, value }) => (name === "PLOSIVE_INSTALLATION" ? [value] : []));
    expect(await names()).toEqual(Array(4).fill("voices/plosive"));
    expect(await names("installation=north.1")).toEqual(Array(4).fill("north.1"));
    await expect(names("installation=north 1")).rejects.toThrow(/installation/);
  });

  it("gives the operator the rights for Kueue unless Kueue is turned off", async () => {
    const kueue = (variables: { name: string; value?: string }[] = []) =>
      variables.find(({ name }) => name === "PLOSIVE_KUEUE")?.value;
    const modeOf = (manifests: Manifest[]) =>
      kueue(one(manifests, "Deployment", "plosive-operator").spec?.template?.spec.containers[0]?.env);
    expect(modeOf(await render(...images, "operator.queueing.kueue=never"))).toBe("off");
    expect(modeOf(await render(...images, "operator.queueing.kueue=always"))).toBe("on");
    const manifests = await render(...images);
    expect(modeOf(manifests)).toBe("auto");
    expect(one(manifests, "Role", "plosive-operator").rules).toEqual([...operatorRules, ...kueueRules]);
    expect(clusterRulesOf(manifests, "operator")).toEqual([...operatorClusterRules, ...kueueClusterRules]);
  });

  it("renders worker profiles that the operator can parse", async () => {
    const manifests = await render(
      ...images,
      "profiles.gpu.train.nodeSelector.pool=gpu",
      "profiles.gpu.train.image=registry/cuda:2",
      "profiles.gpu.train.resources.limits.nvidia\\.com/gpu=1",
      "profiles.gpu.embed.allowUnconfinedDecoding=true",
      "profiles.gpu.train.volumes[0].name=cache",
      "profiles.gpu.train.volumes[0].emptyDir.sizeLimit=1Gi",
      "profiles.gpu.train.volumeMounts[0].name=cache",
      "profiles.gpu.train.volumeMounts[0].mountPath=/mnt/cache",
    );
    const text = one(manifests, "ConfigMap", "plosive-profiles").data!["profiles.json"]!;
    const parsed = profiles.parse(JSON.parse(text));
    expect(parsed.default!.embed).toMatchObject({
      image: "registry/worker:1",
      allowUnconfinedDecoding: false,
    });
    expect(parsed.gpu!.embed.allowUnconfinedDecoding).toBe(true);
    expect(parsed.gpu!.train.volumes).toEqual([{ name: "cache", emptyDir: { sizeLimit: "1Gi" } }]);
    expect(parsed.default!.train.image).toBe("registry/trainer:1");
    expect(parsed.gpu!.train).toMatchObject({ image: "registry/cuda:2", nodeSelector: { pool: "gpu" } });
    // `--set` and YAML turn the value into a number, as in the example of values.yaml.
    expect(text).toContain('"nvidia.com/gpu": 1');
    expect(parsed.gpu!.train.resources?.limits).toMatchObject({ "nvidia.com/gpu": "1" });
    expect(parsed.gpu!.detect.image).toBe("registry/worker:1");
    expect(parsed.gpu!.detect.allowUnconfinedDecoding).toBe(false);
  });

  it("leaves the embedded servers out when secrets name external ones", async () => {
    const manifests = await render(...images.slice(0, 3), ...external, "api.webhooks.existingSecret=hooks");
    expect(manifests.filter((manifest) => manifest.kind === "StatefulSet")).toEqual([]);
    const api = one(manifests, "Deployment", "plosive-api");
    expect(JSON.stringify(api)).toContain("https://s3.example.com");
    expect(api.spec!.template!.spec.containers[0]!.env).toContainEqual({
      name: "PLOSIVE_S3_ADDRESSING",
      value: "virtual",
    });
    for (const deployment of [api, one(manifests, "Deployment", "plosive-operator")])
      expect(JSON.stringify(deployment)).toContain('"secretName":"hooks"');
  });

  it("gives each pod the database URL of its own user and no other", async () => {
    const membersOf = (manifests: Manifest[]) =>
      Object.fromEntries(
        pods(manifests).map(({ metadata, spec }) => [
          nameOf({ metadata }).replace("plosive-", ""),
          (spec!.template!.spec.volumes ?? [])
            .filter(({ secret }) => /^(db|plosive-database)$/.test(secret?.secretName ?? ""))
            .flatMap(({ secret }) => secret!.items!.map(({ key }) => key)),
        ]),
      );
    const own = {
      api: ["api-url"],
      operator: ["operator-url"],
      runs: ["operator-url"],
      bootstrap: ["url", "api-url", "operator-url"],
    };
    expect(membersOf(await render(...images))).toMatchObject({ ...own, database: ["password"] });
    expect(membersOf(await render(...images, ...external))).toEqual({ ...own, secrets: [] });
    const shared = ["database.secretKeys.api=url", "database.secretKeys.operator=url"];
    expect(membersOf(await render(...images, ...external, ...shared))).toEqual({
      api: ["url"],
      operator: ["url"],
      runs: ["url"],
      bootstrap: ["url"],
      secrets: [],
    });
  });

  it("keeps the API's replicas ready without the database, so that they answer 503", async () => {
    const api = one(await render(...images), "Deployment", "plosive-api");
    const [container] = api.spec!.template!.spec.containers;
    expect(container?.startupProbe?.httpGet?.path).toBe("/startupz");
    expect(container?.readinessProbe?.httpGet?.path).toBe("/healthz");
  });

  it.each([
    ["API", "plosive-api", "/startupz", "/healthz"],
    ["operator", "plosive-operator", "/healthz", "/readyz"],
    ["run endpoint", "plosive-runs", "/healthz", "/readyz"],
  ])(
    "gives the %s minutes to start, and restarts it only if it does not answer, not if its dependencies fail",
    async (_, name, startup, readiness) => {
      const [container] = one(await render(...images), "Deployment", name).spec!.template!.spec.containers;
      const { startupProbe, livenessProbe, readinessProbe } = container!;
      expect([startupProbe, readinessProbe].map((probe) => probe?.httpGet?.path)).toEqual([
        startup,
        readiness,
      ]);
      // This path does not ask Postgres, the object store or the API server.
      expect(livenessProbe?.httpGet?.path).toBe("/healthz");
      const patience = (probe?: Probe) => (probe?.periodSeconds ?? 10) * (probe?.failureThreshold ?? 3);
      expect(patience(startupProbe)).toBeGreaterThanOrEqual(300);
      expect(patience(livenessProbe)).toBeGreaterThanOrEqual(60);
      // The default of Kubernetes is a second, which a busy node can exceed.
      expect(livenessProbe?.timeoutSeconds).toBeGreaterThanOrEqual(10);
      for (const probe of [startupProbe, readinessProbe])
        expect(probe?.timeoutSeconds).toBeGreaterThanOrEqual(3);
    },
  );

  it("lets a pod answer until every node knows of its end, and gives all parts time to stop", async () => {
    const manifests = await render(...images);
    const api = one(manifests, "Deployment", "plosive-api").spec!.template!.spec;
    const pause = api.containers[0]?.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(pause).toBe(5);
    // src/main.ts: 20 s for running requests, then it closes the remaining ones; 5 s for what they leave to do, 5 s for the pool.
    expect(api.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(pause + 30);
    // controllers/operator.ts: 10 s for deliveries; main.ts: 5 s for the pool.
    const operator = one(manifests, "Deployment", "plosive-operator").spec!.template!.spec;
    expect(operator.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(15 + 5);
    const runs = one(manifests, "Deployment", "plosive-runs").spec!.template!.spec;
    expect(runs.containers[0]?.lifecycle?.preStop.sleep.seconds).toBe(pause);
    // controllers/runs/server.ts: 5 s for running requests; main.ts: 5 s for the pool.
    expect(runs.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(pause + 10);
  });

  it("keeps the file modes of the embedded servers when their volume is mounted again", async () => {
    const manifests = await render(...images);
    for (const name of ["plosive-database", "plosive-object-store"]) {
      const { spec } = one(manifests, "StatefulSet", name).spec!.template!;
      expect(spec.securityContext, name).toMatchObject({ fsGroupChangePolicy: "OnRootMismatch" });
    }
  });

  it("gives the workers' service account the image pull secrets, because the chart does not create their pods", async () => {
    const manifests = await render(...images, "imagePullSecrets[0].name=registry");
    expect(one(manifests, "ServiceAccount", "plosive-worker").imagePullSecrets).toEqual([
      { name: "registry" },
    ]);
    expect(one(await render(...images), "ServiceAccount", "plosive-worker").imagePullSecrets).toBeUndefined();
  });

  it("passes no keys of the object store where the pods have a workload identity", async () => {
    const manifests = await render(
      ...images,
      "database.existingSecret=db",
      "objectStore.workloadIdentity=true",
      "objectStore.endpoint=https://s3.eu-north-1.amazonaws.com",
      "serviceAccountAnnotations.eks\\.amazonaws\\.com/role-arn=arn:aws:iam::123456789012:role/plosive",
    );
    const all = pods(manifests).filter((manifest) => nameOf(manifest) !== "plosive-secrets");
    expect(all.length).toBeGreaterThan(2);
    for (const { spec } of all) {
      const { containers, volumes = [] } = spec!.template!.spec;
      const names = containers.flatMap(({ env = [] }) => env.map(({ name }) => name));
      expect(names).toContain("PLOSIVE_S3_ENDPOINT");
      expect(names.filter((name) => /ACCESS_KEY/.test(name))).toEqual([]);
      expect(volumes.map(({ secret }) => secret?.secretName)).not.toContain("plosive-object-store");
    }
    const annotations = (component: string) =>
      one(manifests, "ServiceAccount", `plosive-${component}`).metadata.annotations;
    for (const component of ["api", "operator", "runs", "bootstrap"])
      expect(annotations(component)).toEqual({
        "eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/plosive",
      });
    expect(annotations("worker")).toBeUndefined();
  });

  it("never passes a password as text", async () => {
    const values = pods(await render(...images))
      .flatMap((manifest) => manifest.spec!.template!.spec.containers)
      .flatMap((container) => container.env ?? [])
      .filter(
        (variable) =>
          /PASSWORD|SECRET|ACCESS_KEY|DATABASE_URL/.test(variable.name) && variable.value !== undefined,
      )
      .filter((variable) => !variable.name.endsWith("_FILE") && variable.name !== "PLOSIVE_BOOTSTRAP_SECRET");
    expect(values).toEqual([]);
  });

  it.each([
    ["no images", [], /images\.\w+: build/],
    ["a misspelt value", [...images, "api.replica=2"], /replica/],
    [
      "an external store without its address",
      [...images, "objectStore.existingSecret=s3"],
      /objectStore.endpoint/,
    ],
    [
      "keys beside a workload identity",
      [...images, ...external, "objectStore.workloadIdentity=true"],
      /objectStore.workloadIdentity/,
    ],
    [
      "an environment variable that is no text",
      [...images, "profiles.default.train.env[0].name=THREADS", "profiles.default.train.env[0].value=2"],
      /value/,
    ],
    [
      "a volume of the node",
      [
        ...images,
        "profiles.default.train.volumes[0].name=a",
        "profiles.default.train.volumes[0].hostPath.path=/",
      ],
      /hostPath/,
    ],
    [
      "virtual-host style with the embedded store",
      [...images, "objectStore.addressing=virtual"],
      /objectStore.addressing/,
    ],
    ["an unknown style of addresses", [...images, ...external, "objectStore.addressing=host"], /addressing/],
    ["a NodePort out of range", [...images, "api.service.nodePort=70000"], /nodePort/],
  ])("refuses %s and says why", async (_name, sets, reason) => {
    await expect(render(...sets)).rejects.toThrow(reason);
  });
});
