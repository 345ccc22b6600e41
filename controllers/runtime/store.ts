// The cache of one resource type: the last known objects by name, with indexes. Filled by reflector.ts, read by
// reconcilers. Objects in a store are shared, so readers must never modify them.
import type { KubeObject } from "../../src/kube/objects.ts";

export type Indexers<T> = Record<string, (object: T) => string | undefined>;
/**
 * `old` is the previous version; undefined for a new object. `isReported`: the watch has reported the deletion. An object that
 * is only missing from a list may have been deleted, or was lost with a restore of etcd.
 */
export type Change<T> = { object: T; old: T | undefined; deleted: boolean; isReported?: boolean };

/** Remembered deletions: many more than can happen during one request. */
const maxDeletions = 4_096;

export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  /**
   * Resource versions of deletions, by uid. The response of a write may arrive after the watch has reported the
   * deletion of the object, and must not bring it back.
   */
  readonly #deletions = new Map<string, number>();
  readonly #indexers: Indexers<T>;
  readonly #indexes = new Map<string, Map<string, Set<string>>>();
  readonly #trim: (object: T) => void;
  readonly #listeners: ((change: Change<T>) => void)[] = [];

  /** `trim` removes fields that nobody reads before an object is stored. */
  constructor(indexers: Indexers<T> = {}, trim: (object: T) => void = () => undefined) {
    this.#indexers = indexers;
    this.#trim = trim;
    for (const index of Object.keys(indexers)) this.#indexes.set(index, new Map());
  }

  get size(): number {
    return this.#objects.size;
  }

  get(name: string): T | undefined {
    return this.#objects.get(name);
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  /** Returns the objects whose indexer returned this value. */
  by(index: string, value: string): T[] {
    const names = this.#indexes.get(index)?.get(value) ?? [];
    return [...names].map((name) => this.#objects.get(name)!);
  }

  /** Calls the listener after each change of the stored fields of an object, and after its deletion. */
  onChange(listener: (change: Change<T>) => void): void {
    this.#listeners.push(listener);
  }

  /** Trims an object in place. set() does it too; the reflector calls it for each object of a list to save memory. */
  trim(object: T): T {
    // managedFields are half of an object's size, and the operator never reads them.
    delete object.metadata.managedFields;
    this.#trim(object);
    return object;
  }

  /**
   * Stores an object unless a newer version is known. So the response of a write may be stored before the watch
   * delivers it.
   */
  set(object: T): void {
    const { name, uid } = object.metadata;
    const old = this.#objects.get(name);
    if (old !== undefined && old.metadata.uid === uid && versionOf(old) >= versionOf(object)) return;
    if (versionOf(object) <= (this.#deletions.get(uid ?? "") ?? 0)) return;
    this.#keep(this.trim(object), old);
  }

  delete(object: T): void {
    this.#rememberDeletion(object);
    const old = this.#objects.get(object.metadata.name);
    // The store may already hold a newer object of the same name.
    if (old?.metadata.uid === object.metadata.uid) this.#drop(object.metadata.name, true);
  }

  /**
   * Replaces all objects after a list, by name and already trimmed. Older versions replace newer ones too: then the cluster was
   * restored to an older state. The watch delivers again what is newer than the list.
   */
  replace(objects: ReadonlyMap<string, T>): void {
    for (const name of [...this.#objects.keys()]) if (!objects.has(name)) this.#drop(name);
    this.#deletions.clear();
    for (const [name, object] of objects) this.#keep(object, this.#objects.get(name));
  }

  #keep(object: T, old: T | undefined): void {
    if (old !== undefined) this.#unindex(old);
    this.#objects.set(object.metadata.name, object);
    this.#index(object);
    if (old === undefined || contentOf(old) !== contentOf(object))
      this.#notify({ object, old, deleted: false });
  }

  #drop(name: string, isReported = false): void {
    const old = this.#objects.get(name);
    if (old === undefined) return;
    this.#unindex(old);
    this.#objects.delete(name);
    this.#notify({ object: old, old, deleted: true, ...(isReported ? { isReported } : {}) });
  }

  #rememberDeletion({ metadata: { uid = "", resourceVersion } }: T): void {
    this.#deletions.set(uid, Number(resourceVersion));
    if (this.#deletions.size <= maxDeletions) return;
    for (const first of this.#deletions.keys()) return void this.#deletions.delete(first);
  }

  #notify(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }

  #index(object: T): void {
    for (const [index, indexer] of Object.entries(this.#indexers)) {
      const value = indexer(object);
      if (value === undefined) continue;
      const values = this.#indexes.get(index)!;
      const names = values.get(value) ?? new Set();
      values.set(value, names.add(object.metadata.name));
    }
  }

  #unindex(object: T): void {
    for (const [index, indexer] of Object.entries(this.#indexers)) {
      const value = indexer(object);
      if (value === undefined) continue;
      const values = this.#indexes.get(index)!;
      const names = values.get(value);
      names?.delete(object.metadata.name);
      if (names?.size === 0) values.delete(value);
    }
  }
}

const versionOf = ({ metadata }: KubeObject) => Number(metadata.resourceVersion);

/** The object without its resourceVersion, which also changes with fields that are not stored. */
function contentOf(object: KubeObject): string {
  const { resourceVersion, ...metadata } = object.metadata;
  return JSON.stringify({ ...object, metadata });
}
