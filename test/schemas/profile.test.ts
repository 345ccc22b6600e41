// Worker profiles that an operator refuses before it asks the API server.
import { expect, it } from "vitest";
import { parseProfiles } from "../../src/schemas/profile.ts";

const volumes = [{ name: "data", emptyDir: {} }];
const at = (mountPath: string, name = "data") => ({ name, mountPath });
const parse = (train: object, name = "default") => {
  const one = { image: "worker" };
  return parseProfiles(JSON.stringify({ [name]: { embed: one, train: { ...one, ...train }, detect: one } }));
};

it.each([
  ["no default", {}, /profile with the name default/, "other"],
  ["an unknown field", { afinity: {} }, /afinity.*\n.*default\.train/],
  [
    "a volume of the node",
    { volumes: [{ name: "data", hostPath: { path: "/" } }] },
    /hostPath.*\n.*default\.train\.volumes\[0\]/,
  ],
  ["a Secret", { volumes: [{ name: "data", secret: { secretName: "s3" } }] }, /secret/],
  ["a volume without a source", { volumes: [{ name: "data" }] }, /exactly one source/],
  [
    "a volume with two sources",
    { volumes: [{ name: "data", emptyDir: {}, configMap: {} }] },
    /exactly one source/,
  ],
  ["a volume that the worker has", { volumes: [{ name: "scratch", emptyDir: {} }] }, /worker's own/],
  ["two volumes of one name", { volumes: [...volumes, ...volumes] }, /same name/],
  [
    "a mount without a volume",
    { volumes, volumeMounts: [at("/mnt/a", "other")] },
    /one of the profile's volumes/,
  ],
  ["two mounts at one path", { volumes, volumeMounts: [at("/mnt/a"), at("/mnt/a")] }, /same mountPath/],
  ["a label of the operator", { labels: { "plosive.dev/job": "x" } }, /belong to the operator/],
  [
    "an annotation of the Job controller",
    { annotations: { "batch.kubernetes.io/job-completion-index": "1" } },
    /belong to the operator/,
  ],
])("%s is refused with the reason", (_, train, reason, name?) => {
  expect(() => parse(train, name as string)).toThrow(reason as RegExp);
});

it.each([
  "/scratch",
  "/",
  "/mnt",
  "/mnt/",
  "/mnt/../app",
  "/mnt/a//b",
  "/mnt/./a",
  "/var/run/plosive/x",
  "mnt/a",
])("a mount at %s is refused, because it could hide a path of the worker", (path) => {
  expect(() => parse({ volumes, volumeMounts: [at(path)] })).toThrow(/below \/mnt/);
});

it("mounts below /mnt are allowed", () => {
  const volumeMounts = [at("/mnt/a"), at("/mnt/a.b/c_d-e")];
  expect(parse({ volumes, volumeMounts }).default?.train.volumeMounts).toEqual(volumeMounts);
});
