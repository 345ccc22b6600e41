// The resource types that Plosive uses: built-in ones, and its custom resources from src/schemas. Used by every caller
// of the client.
import { embeddingJobKind } from "../schemas/embedding-job.ts";
import { inferenceJobKind } from "../schemas/inference-job.ts";
import { groupVersion, type Kind, type Resource } from "../schemas/kind.ts";
import { modelKind } from "../schemas/model.ts";
import { trainingJobKind } from "../schemas/training-job.ts";
import type { ConfigMap, Event, Job, KubeObject, Lease, Pod, ResourceType, Secret } from "./objects.ts";

export const jobs: ResourceType<Job> = { apiVersion: "batch/v1", kind: "Job", plural: "jobs" };
export const pods: ResourceType<Pod> = { apiVersion: "v1", kind: "Pod", plural: "pods" };
export const secrets: ResourceType<Secret> = { apiVersion: "v1", kind: "Secret", plural: "secrets" };
export const configMaps: ResourceType<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
};
export const leases: ResourceType<Lease> = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
};
export const events: ResourceType<Event> = {
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  plural: "events",
};

/** Returns the resource type of a custom resource of Plosive. */
export function resourceTypeOf<K extends Kind>(kind: K): ResourceType<Resource<K> & KubeObject> {
  return { apiVersion: groupVersion, kind: kind.kind, plural: kind.plural };
}

export const trainingJobs = resourceTypeOf(trainingJobKind);
export const inferenceJobs = resourceTypeOf(inferenceJobKind);
export const embeddingJobs = resourceTypeOf(embeddingJobKind);
export const models = resourceTypeOf(modelKind);
