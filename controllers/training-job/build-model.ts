// The Model resource of a trained model. Pure: the same row gives the same object.
import type { ModelRow } from "../../src/db/operator/ingest.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { ModelResource } from "../../src/schemas/model.ts";

export function buildModel(row: ModelRow, namespace: string): ModelResource & KubeObject {
  const { id, tenantId, trainingJobId, artifactTypes, objectStoreKey, sha256, sizeBytes } = row;
  return {
    apiVersion: "plosive.dev/v1alpha1",
    kind: "Model",
    metadata: {
      name: `m-${id}`,
      namespace,
      labels: { "app.kubernetes.io/part-of": "plosive", "plosive.dev/tenant": tenantId },
    },
    spec: { tenantId, trainingJobId, artifactTypes, objectStoreKey, sha256, sizeBytes },
  };
}
