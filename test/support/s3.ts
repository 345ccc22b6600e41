// A bucket for each test file, on the run's one real S3 server. Called at the top of test files: `const store =
// useStorage()`, then `store.storage` inside the tests.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, inject } from "vitest";
import { makeStorage, type Storage } from "../../src/storage/storage.ts";
import { type BucketConfig, bucketOf } from "../../tools/s3.ts";

export interface TestStorage {
  readonly config: BucketConfig;
  readonly storage: Storage;
}

/** A bucket for the calling file. The server's whole directory is deleted after the run. */
export function useStorage(): TestStorage {
  let config: BucketConfig | undefined;
  let storage: Storage | undefined;
  beforeAll(async () => {
    config = storageConfig();
    storage = makeStorage(config);
    await storage.ensureBucket();
  });
  afterAll(() => storage?.close());
  return {
    get config() {
      if (config === undefined) throw new Error("the bucket exists only while tests run");
      return config;
    },
    get storage() {
      if (storage === undefined) throw new Error("the bucket exists only while tests run");
      return storage;
    },
  };
}

/** Settings of a bucket that no other test uses. */
export function storageConfig(): BucketConfig {
  return bucketOf(inject("servers").s3, `test-${randomBytes(8).toString("hex")}`);
}
