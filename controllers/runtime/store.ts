// The objects of one resource type as last seen, by name, with indexes. Filled by reflector.ts, read by reconcilers.
// What is in a store is shared: readers never change it.
import type { KubeObject } from "../../src/kube/objects.ts";

export type Indexers<T> = Record<string, (object: T) => string | undefined>;
/** `old`: as it was before; undefined when it is new. */
export type Change<T> = { object: T; old: T | undefined; deleted: boolean };

export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
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
    const { name, resourceVersion, uid } = object.metadata;
    const old = this.#objects.get(name);
    if (old?.metadata.uid === uid && Number(old?.metadata.resourceVersion) >= Number(resourceVersion)) return;
    this.trim(object);
    if (old !== undefined) this.#unindex(old);
    this.#objects.set(name, object);
    this.#index(object);
    if (old === undefined || contentOf(old) !== contentOf(object))
      this.#tell({ object, old, deleted: false });
  }

  delete(object: T): void {
    const old = this.#objects.get(object.metadata.name);
    if (old === undefined) return;
    this.#unindex(old);
    this.#objects.delete(object.metadata.name);
    this.#tell({ object: old, old, deleted: true });
  }

  /** After a list: everything that is not in it is gone. */
  replace(objects: T[]): void {
    const names = new Set(objects.map((object) => object.metadata.name));
    for (const old of [...this.#objects.values()]) if (!names.has(old.metadata.name)) this.delete(old);
    for (const object of objects) this.set(object);
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

/** All but the version: it counts writes, also of what is not kept. */
function contentOf(object: KubeObject): string {
  const { resourceVersion, ...metadata } = object.metadata;
  return JSON.stringify({ ...object, metadata });
}
