// The output of a successful trainer, in the smallest form that the operator ingests. For tests that fake the worker
// because they are about other parts.
import { createHash } from "node:crypto";
import type { Kube } from "../../src/kube/client.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { endPod, put, type Worker } from "./operator.ts";

export async function finishTraining(kube: Kube, pod: Pod, worker: Worker): Promise<void> {
  const work = await worker.work();
  if (work.kind !== "train") throw new Error("not the work of a training");
  const files = { "model.onnx": work.outputs.model, "card.json": work.outputs.card };
  const artifacts = await Promise.all(
    Object.entries(files).map(async ([name, target]) => {
      const content = `content of ${name}`;
      await put(target, content);
      const sha256 = createHash("sha256").update(content).digest("hex");
      return { name, sha256, size_bytes: content.length };
    }),
  );
  const result = {
    version: 1,
    kind: "train",
    run: worker.run,
    shard: 0,
    artifact_types: ["click"],
    architecture: { family: "tcn" },
    metrics: { overall: { f1: 0.9 } },
    artifacts,
  };
  await put(work.result, JSON.stringify(result));
  await endPod(kube, pod, 0);
}
