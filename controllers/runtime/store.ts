// The objects of one resource type as last seen, by name, with indexes. Filled by reflector.ts, read by reconcilers.
// What is in a store is shared: readers never change it.
import type { KubeObject } from "../../src/kube/objects.ts";

export type Indexers<T> = Record<string, (object: T) => string | undefined>;
/** `old`: as it was before; undefined when it is new. */
export type Change<T> = { object: T; old: T | undefined; deleted: boolean };

/** Many more than go in the time that a request takes. */
const remembered = 4_096;

export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  /** Versions at which objects went, by uid: what a write returns may arrive after the news that the object is gone. */
  readonly #gone = new Map<string, number>();
  readonly #indexers: Indexers<T>;
  readonly #indexes = new Map<string, Map<string, Set<string>>>();
  readonly #trim: (object: T) => void;
  readonly #listeners: ((change: Change<T>) => void)[] = [];

  /** `trim` takes away what nobody reads of an object before it is kept. */
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

  /** The objects for which the indexer gave this value. */
  by(index: string, value: string): T[] {
    const names = this.#indexes.get(index)?.get(value) ?? [];
    return [...names].map((name) => this.#objects.get(name)!);
  }

  /** Called after each change of what is kept of an object, deletions included. */
  onChange(listener: (change: Change<T>) => void): void {
    this.#listeners.push(listener);
  }

  /** Makes an object as small as it is kept. set() does it too; a list does it page by page. */
  trim(object: T): T {
    // Half of an object's size, and never read here.
    delete object.metadata.managedFields;
    this.#trim(object);
    return object;
  }

  /** Versions of one object only move forward, so what a write returned may be set before the watch shows it. */
  set(object: T): void {
    const { name, uid } = object.metadata;
    const old = this.#objects.get(name);
    if (old !== undefined && old.metadata.uid === uid && versionOf(old) >= versionOf(object)) return;
    if (versionOf(object) <= (this.#gone.get(uid ?? "") ?? 0)) return;
    this.#keep(this.trim(object), old);
  }

  delete(object: T): void {
    this.#bury(object);
    const old = this.#objects.get(object.metadata.name);
    // Another one of that name may have been made since, and be known already.
    if (old?.metadata.uid === object.metadata.uid) this.#drop(object.metadata.name);
  }

  /**
   * After a list: everything that is not in it is gone, and what is in it is so, also when its versions are older: then
   * the cluster was set back. What a write returned that is newer than the list is shown again by the watch.
   */
  replace(objects: T[]): void {
    const names = new Set(objects.map((object) => object.metadata.name));
    for (const name of [...this.#objects.keys()]) if (!names.has(name)) this.#drop(name);
    this.#gone.clear();
    for (const object of objects) this.#keep(this.trim(object), this.#objects.get(object.metadata.name));
  }

  #keep(object: T, old: T | undefined): void {
    if (old !== undefined) this.#unindex(old);
    this.#objects.set(object.metadata.name, object);
    this.#index(object);
    if (old === undefined || contentOf(old) !== contentOf(object))
      this.#tell({ object, old, deleted: false });
  }

  #drop(name: string): void {
    const old = this.#objects.get(name);
    if (old === undefined) return;
    this.#unindex(old);
    this.#objects.delete(name);
    this.#tell({ object: old, old, deleted: true });
  }

  #bury({ metadata: { uid = "", resourceVersion } }: T): void {
    this.#gone.set(uid, Number(resourceVersion));
    if (this.#gone.size <= remembered) return;
    for (const first of this.#gone.keys()) return void this.#gone.delete(first);
  }

  #tell(change: Change<T>): void {
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

/** All but the version: it counts writes, also of what is not kept. */
function contentOf(object: KubeObject): string {
  const { resourceVersion, ...metadata } = object.metadata;
  return JSON.stringify({ ...object, metadata });
}
