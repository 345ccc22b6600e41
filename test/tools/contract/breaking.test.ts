// The check of the released API: it finds changes that break clients and ignores additions.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { breakingChanges, released } from "../../../tools/contract/breaking.ts";

// biome-ignore lint/suspicious/noExplicitAny: the cases change a document of any shape.
type Document = any;
const file = join(import.meta.dirname, "../../../openapi.json");
const present = (): Document => JSON.parse(readFileSync(file, "utf8"));

const job = "/api/v1/training-jobs/{training_job_id}";
const cases: { name: string; change: (document: Document) => void; id: string }[] = [
  {
    name: "a removed operation",
    change: ({ paths }) => delete paths[job].get,
    id: "api-removed-without-deprecation",
  },
  {
    name: "a removed member of an answer",
    change: ({ components }) => {
      delete components.schemas.TrainingJob.properties.progress_percent;
      components.schemas.TrainingJob.required = components.schemas.TrainingJob.required.filter(
        (name: string) => name !== "progress_percent",
      );
    },
    id: "response-required-property-removed",
  },
  {
    name: "a new required member of a request",
    change: ({ components }) => {
      components.schemas.CreateDataset.properties.owner = { type: "string", maxLength: 9 };
      components.schemas.CreateDataset.required.push("owner");
    },
    id: "new-required-request-property",
  },
  {
    name: "a lower limit",
    change: ({ components }) => {
      components.schemas.CreateApiKey.properties.name.maxLength = 100;
    },
    id: "request-property-max-length-decreased",
  },
  {
    name: "a changed type of a member",
    change: ({ components }) => {
      components.schemas.Annotation.properties.start_ms = { type: "string", maxLength: 20 };
    },
    id: "response-property-type-changed",
  },
  {
    name: "a removed success status",
    change: ({ paths }) => {
      const { responses } = paths["/api/v1/datasets"].post;
      responses["202"] = responses["201"];
      delete responses["201"];
    },
    id: "response-success-status-removed",
  },
];

// oasdiff takes seconds for two descriptions of this size on a busy machine.
describe("the check of the released API", { timeout: 60_000 }, () => {
  it.each(cases)("reports $name", async ({ change, id }) => {
    const document = present();
    change(document);
    const ids = (await breakingChanges(file, document)).map((found) => found.id);
    expect(ids).toContain(id);
  });

  it("accepts additions", async () => {
    const document = present();
    document.paths["/api/v1/more"] = { get: document.paths["/api/v1/models"].get };
    document.components.schemas.Model.properties.colour = { type: "string", maxLength: 9 };
    document.components.schemas.UpdateModel.properties.colour = { type: "string", maxLength: 9 };
    document.components.schemas.TrainingJob.properties.status.enum.push("paused");
    expect(await breakingChanges(file, document)).toEqual([]);
  });

  it("accepts the present description against the last release", async () => {
    expect(await breakingChanges(released(), present())).toEqual([]);
  });
});
