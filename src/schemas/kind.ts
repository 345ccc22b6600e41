// defineKind: a kind of custom resource as data. src/gen writes its CRD from it; controllers and src/kube read its
// names.
import type { z } from "zod";

export const group = "plosive.dev";
export const apiVersion = "v1alpha1";
export const groupVersion = `${group}/${apiVersion}`;

export type Column = {
  name: string;
  type: "string" | "integer" | "date";
  jsonPath: string;
  description: string;
  /** 0 (always shown) or 1 (`kubectl get -o wide`). */
  priority?: 0 | 1;
};

/** A rule in CEL that the Kubernetes API server checks. */
export type CelRule = { rule: string; message: string };

export type Kind<S extends z.ZodObject = z.ZodObject, T extends z.ZodObject = z.ZodObject> = {
  kind: string;
  plural: string;
  singular: string;
  shortName: string;
  description: string;
  spec: S;
  status: T;
  columns: Column[];
  /** Rules on the object as a whole. */
  rules?: CelRule[];
};

export type ObjectMeta = {
  name: string;
  namespace: string;
  uid?: string;
  generation?: number;
  resourceVersion?: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
};

/** An object of the kind, as the Kubernetes API server returns it. */
export type Resource<K extends Kind> = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: z.infer<K["spec"]>;
  status?: z.infer<K["status"]>;
};

/** Keeps the precise types of a kind's spec and status. */
export function defineKind<S extends z.ZodObject, T extends z.ZodObject>(kind: Kind<S, T>): Kind<S, T> {
  return kind;
}
