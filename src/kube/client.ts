// The Kubernetes client: typed get, list, watch, create, patch and delete of any resource type.
// Every call has a deadline and rejects with KubeError. Used by src/submit.ts, src/bootstrap.ts and controllers.
import type { IncomingMessage } from "node:http";
import { type ServerAccess, serverAccess } from "./config.ts";
import { isNotFound, KubeError } from "./errors.ts";
import { pods } from "./kinds.ts";
import type { KubeObject, List, ResourceType, WatchEvent } from "./objects.ts";
import { type KubeRequest, makeTransport, type RequestRate, type Transport } from "./transport.ts";

export type Ref = { namespace: string; name: string };
export type ListOptions = { labelSelector?: string; limit?: number; continue?: string };
export type WatchOptions<T> = {
  labelSelector?: string;
  /** Undefined: the watch begins with an ADDED event for each present object, and `isEndOfPresent` is true of the bookmark after them. */
  resourceVersion: string | undefined;
  /** The server closes the watch after this time; the caller opens it again. */
  timeoutSeconds: number;
  /** The connection counts as dead when it is silent for this long; the server sends bookmarks about every minute. */
  inactivityMs: number;
  signal: AbortSignal;
  onEvent(event: WatchEvent<T>): void;
};
/** `timeoutMs`: limit for the whole request. `urgent`: bypasses the rate limiter, on separate connections. */
export type CallOptions = { timeoutMs?: number; urgent?: boolean };
export type ApplyOptions = { fieldManager: string; subresource?: "status"; timeoutMs?: number };

export type Kube = {
  get<T extends KubeObject>(type: ResourceType<T>, ref: Ref, options?: CallOptions): Promise<T>;
  /** Like get; undefined when there is no such object. */
  find<T extends KubeObject>(type: ResourceType<T>, ref: Ref, options?: CallOptions): Promise<T | undefined>;
  /** Lists one page of a namespace; `metadata.continue` is the token of the next page. */
  list<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    options?: ListOptions & { signal?: AbortSignal },
  ): Promise<List<T>>;
  /** Calls onEvent until the server ends the watch (resolves) or something fails (rejects with KubeError). */
  watch<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    options: WatchOptions<T>,
  ): Promise<void>;
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: CallOptions): Promise<T>;
  /** Replaces the object; rejects with Conflict if its resourceVersion is not the current one. */
  replace<T extends KubeObject>(type: ResourceType<T>, object: T, options?: CallOptions): Promise<T>;
  /** Sends a JSON merge patch. */
  patch<T extends KubeObject>(type: ResourceType<T>, ref: Ref, body: unknown): Promise<T>;
  /**
   * Server-side apply that takes over fields of other managers (force). With metadata.resourceVersion it rejects with
   * Conflict if that is not the current one.
   */
  apply<T extends KubeObject>(
    type: ResourceType<T>,
    object: Partial<T> & KubeObject,
    options: ApplyOptions,
  ): Promise<T>;
  /**
   * Deletes with Background propagation, without which a Job's pods are orphaned. False when the object is not found.
   */
  remove<T extends KubeObject>(type: ResourceType<T>, ref: Ref, options?: { uid?: string }): Promise<boolean>;
  /**
   * Evicts a pod: its Job may ignore this disruption in its failure count. False when the pod is not found. Rejects
   * with isTooMany when a PodDisruptionBudget forbids the eviction.
   */
  evict(ref: Ref, options: { uid?: string }): Promise<boolean>;
  /** Sends any other request. */
  send(request: KubeRequest): Promise<unknown>;
  onRequest: Transport["onRequest"];
  close(): void;
};

/**
 * Makes a client for the cluster of a kubeconfig file or, without one, for the cluster that this pod runs in. `rate`
 * limits the requests per second.
 */
export function makeKube(options: { kubeconfig?: string; rate?: RequestRate }): Kube {
  return kubeOf(serverAccess(options.kubeconfig), options.rate);
}

/** Makes a client for a given API server and credentials. */
export function kubeOf(access: ServerAccess, rate?: RequestRate): Kube {
  const transport = makeTransport(access, rate);
  const send = transport.send as <T>(request: KubeRequest) => Promise<T>;
  const get: Kube["get"] = (type, ref, options) =>
    send({ method: "GET", path: pathOf(type, ref.namespace, ref.name), ...options });
  return {
    get,
    find: (type, ref, options) =>
      get(type, ref, options).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      }),
    list: (type, namespace, { signal, ...query } = {}) =>
      send({ method: "GET", path: pathOf(type, namespace), query, signal, timeoutMs: 60_000 }),
    async watch(type, namespace, options) {
      const { labelSelector, resourceVersion, timeoutSeconds, inactivityMs, signal, onEvent } = options;
      const dead = new AbortController();
      const timer = setTimeout(() => dead.abort(), inactivityMs);
      try {
        const response = await transport.open({
          method: "GET",
          path: pathOf(type, namespace),
          query: {
            watch: true,
            allowWatchBookmarks: true,
            ...(resourceVersion === undefined
              ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }
              : { resourceVersion }),
            timeoutSeconds,
            labelSelector,
          },
          signal: AbortSignal.any([signal, dead.signal]),
        });
        await readEvents(response, () => timer.refresh(), onEvent);
      } catch (cause) {
        if (dead.signal.aborted) transport.dropIdleConnections();
        if (cause instanceof KubeError) throw cause;
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new KubeError(`watch of ${type.plural} failed: ${why}`, {
          status: 0,
          reason: "Unreachable",
          cause,
        });
      } finally {
        clearTimeout(timer);
      }
    },
    create: (type, object, options) =>
      send({
        method: "POST",
        path: pathOf(type, object.metadata.namespace),
        body: { apiVersion: type.apiVersion, kind: type.kind, ...object },
        ...options,
      }),
    replace: (type, object, options) =>
      send({
        method: "PUT",
        path: pathOf(type, object.metadata.namespace, object.metadata.name),
        body: { apiVersion: type.apiVersion, kind: type.kind, ...object },
        ...options,
      }),
    patch: (type, ref, body) =>
      send({
        method: "PATCH",
        path: pathOf(type, ref.namespace, ref.name),
        body,
        contentType: "application/merge-patch+json",
      }),
    apply: (type, object, { fieldManager, subresource, timeoutMs }) =>
      send({
        method: "PATCH",
        path:
          pathOf(type, object.metadata.namespace, object.metadata.name) +
          (subresource ? `/${subresource}` : ""),
        query: { fieldManager, force: true },
        body: { ...object, apiVersion: type.apiVersion, kind: type.kind },
        // The API server requires the YAML media type; JSON is valid YAML.
        contentType: "application/apply-patch+yaml",
        timeoutMs,
      }),
    remove: (type, ref, options = {}) =>
      foundAndDeleted(
        send({
          method: "DELETE",
          path: pathOf(type, ref.namespace, ref.name),
          body: {
            apiVersion: "v1",
            kind: "DeleteOptions",
            propagationPolicy: "Background",
            ...(options.uid === undefined ? {} : { preconditions: { uid: options.uid } }),
          },
        }),
      ),
    evict: ({ namespace, name }, { uid }) =>
      foundAndDeleted(
        send({
          method: "POST",
          path: `${pathOf(pods, namespace, name)}/eviction`,
          body: {
            apiVersion: "policy/v1",
            kind: "Eviction",
            metadata: { namespace, name },
            deleteOptions: { preconditions: { uid } },
          },
        }),
      ),
    send: transport.send,
    onRequest: transport.onRequest,
    close: transport.close,
  };
}

/** True when the deletion succeeds, false when the object is not found. */
async function foundAndDeleted(deletion: Promise<unknown>): Promise<boolean> {
  try {
    await deletion;
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Returns the URL path of a resource type in a namespace, or of one object. */
export function pathOf(type: ResourceType, namespace: string, name?: string): string {
  const root = type.apiVersion.includes("/") ? `/apis/${type.apiVersion}` : `/api/${type.apiVersion}`;
  const folder = `${root}/namespaces/${encodeURIComponent(namespace)}/${type.plural}`;
  return name === undefined ? folder : `${folder}/${encodeURIComponent(name)}`;
}

/** Whether the event says that the watch has sent all objects that were there at its beginning. */
export const isEndOfPresent = ({ type, object }: WatchEvent<KubeObject>): boolean =>
  type === "BOOKMARK" && object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";

/**
 * Splits the stream into lines of JSON. A `for await` over readline would lose lines that arrive before the loop
 * begins.
 */
async function readEvents<T>(
  response: IncomingMessage,
  onActivity: () => void,
  onEvent: (event: WatchEvent<T>) => void,
): Promise<void> {
  response.setEncoding("utf8");
  let rest = "";
  for await (const chunk of response as AsyncIterable<string>) {
    onActivity();
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") continue;
      const event = JSON.parse(line) as WatchEvent<T>;
      if (event.type === "ERROR") {
        const {
          code = 0,
          reason = "",
          message = "",
        } = event.object as { code?: number; reason?: string; message?: string };
        throw new KubeError(`watch: ${message}`, { status: code, reason });
      }
      onEvent(event);
    }
  }
}
