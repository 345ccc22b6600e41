// Findings of the chart's linters that stay, with the reason for each. Called by main.ts, which fails for a finding that is not
// here, and for an entry that nothing finds any more.

export interface Accepted {
  readonly linter: "checkov" | "kube-score" | "polaris";
  /** The linter's own name of the check. */
  readonly check: string;
  /** Part of the name of the rendering; all renderings without it. */
  readonly rendering?: string;
  /** Kind and name, without "plosive-"; all objects without it. */
  readonly objects?: RegExp;
  readonly reason: string;
}

const cpuLimits =
  "Requests guarantee the share of a pod. A CPU limit throttles it even on an idle node; set one in `resources`.";
const postgresUser =
  "Postgres has the user 999 in its image, and volumes of existing installations belong to it. OpenShift chooses the users itself (values-openshift.yaml).";
const testPod = "The pod of `helm test` sends one request and ends.";

const pullPolicy =
  "Images are named by digest or by a tag that never moves. `Always` would stop pods from starting while the registry is away.";
const callers = /^(Deployment (api|operator|runs)|Job ((bootstrap|secrets)-\w+|take-over)|CronJob secrets)$/;
const parts =
  /^(Deployment (api|operator|runs)|StatefulSet (database|object-store)|Job ((bootstrap|secrets)-\w+|take-over)|CronJob secrets|Pod test-api)$/;
const callServer =
  "These pods call the API server, with service accounts whose Roles allow what their work needs.";
const oneNode = "The local cluster is one small node (values-local.yaml).";

export const accepted: readonly Accepted[] = [
  {
    linter: "checkov",
    check: "CKV_K8S_21",
    reason: 'Templates name no namespace: Helm\'s --namespace chooses it. checkov takes that for "default".',
  },
  { linter: "checkov", check: "CKV_K8S_11", reason: cpuLimits },
  {
    linter: "checkov",
    check: "CKV_K8S_38",
    objects: callers,
    reason: callServer,
  },
  {
    linter: "checkov",
    check: "CKV_K8S_35",
    objects: /^StatefulSet object-store$/,
    reason: "versitygw takes its root keys from the environment alone. The embedded store is for evaluation.",
  },
  { linter: "checkov", check: "CKV_K8S_40", reason: postgresUser },
  { linter: "checkov", check: "CKV_K8S_8", objects: /^Pod test-api$/, reason: testPod },
  { linter: "checkov", check: "CKV_K8S_9", objects: /^Pod test-api$/, reason: testPod },
  {
    linter: "kube-score",
    check: "container-ephemeral-storage-request-and-limit",
    reason:
      "Root file systems are read-only, and temporary volumes have a size limit. Logs count too, and how many a node keeps is its own setting.",
  },
  {
    linter: "kube-score",
    check: "container-image-pull-policy",
    reason: pullPolicy,
  },
  { linter: "kube-score", check: "container-resources", reason: cpuLimits },
  { linter: "kube-score", check: "container-security-context-user-group-id", reason: postgresUser },
  {
    linter: "kube-score",
    check: "networkpolicy-targets-pod",
    objects: /^NetworkPolicy worker$/,
    reason: "The operator creates the pods that this policy is for.",
  },
  {
    linter: "kube-score",
    check: "pod-probes-identical",
    objects: /^(Deployment api|StatefulSet object-store)$/,
    reason:
      "During an outage of the database the API answers 503 with a reason; a readiness probe of the database would make it unreachable instead.",
  },
  {
    linter: "kube-score",
    check: "statefulset-has-servicename",
    objects: /^StatefulSet (database|object-store)$/,
    reason: "One replica, which clients reach by an ordinary Service; nobody needs the names of pods.",
  },
  {
    linter: "kube-score",
    check: "deployment-has-host-podantiaffinity",
    reason: "topologySpreadConstraints spread the replicas over nodes and zones, where there are several.",
  },
  {
    linter: "kube-score",
    check: "deployment-replicas",
    rendering: "local",
    reason: oneNode,
  },
  {
    linter: "kube-score",
    check: "service-type",
    rendering: "local",
    reason: "The local cluster has no load balancer (values-local.yaml).",
  },
  { linter: "polaris", check: "automountServiceAccountToken", objects: callers, reason: callServer },
  { linter: "polaris", check: "cpuLimitsMissing", reason: cpuLimits },
  { linter: "polaris", check: "deploymentMissingReplicas", rendering: "local", reason: oneNode },
  {
    linter: "polaris",
    check: "deploymentMissingReplicas",
    rendering: "production",
    objects: /^Deployment api$/,
    reason: "The HorizontalPodAutoscaler sets the replicas, at least two.",
  },
  { linter: "polaris", check: "livenessProbeMissing", objects: /^Pod test-api$/, reason: testPod },
  { linter: "polaris", check: "readinessProbeMissing", objects: /^Pod test-api$/, reason: testPod },
  {
    linter: "polaris",
    check: "metadataAndInstanceMismatched",
    reason:
      "polaris wants an object to have the name of its release. A release has several objects of one kind.",
  },
  {
    linter: "polaris",
    check: "missingNetworkPolicy",
    objects: parts,
    reason:
      "polaris knows only policies that select by one label and allow both directions. A pod's policy selects by three labels and allows only what its part needs; test/e2e/network-policy.test.ts tries each connection.",
  },
  {
    linter: "polaris",
    check: "priorityClassNotSet",
    reason: "Which classes exist, and their order, is the cluster's own; set one in `priorityClassName`.",
  },
  { linter: "polaris", check: "pullPolicyNotAlways", reason: pullPolicy },
  {
    linter: "polaris",
    check: "sensitiveContainerEnvVar",
    objects: /^(Deployment (api|operator|runs)|Job bootstrap-\w+|StatefulSet database)$/,
    reason: "These variables name files and Secrets. None holds a secret.",
  },
  {
    linter: "polaris",
    check: "topologySpreadConstraint",
    objects: /^(Pod test-api|StatefulSet (database|object-store))$/,
    reason: "One replica has nothing to spread.",
  },
];
