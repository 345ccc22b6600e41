// `make gen`: writes every document that is generated from the schemas. The files are committed, and a test checks that
// running this again changes none of them.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { makeOpenApi } from "../api/openapi.ts";
import { routes } from "../api/routes/index.ts";
import { group } from "../schemas/kind.ts";
import { kinds } from "../schemas/kinds.ts";
import { progress, result, termination, work } from "../schemas/worker.ts";
import { crdOf } from "./crd.ts";
import { makeDashboards } from "./dashboards.ts";
import { type OpenApi, page, resourceReference, restReference } from "./reference.ts";

const root = join(import.meta.dirname, "../..");
const header = "# Written by `make gen` from src/schemas. Do not edit.\n";

for (const folder of ["crds", "charts/plosive/files/crds"]) {
  for (const kind of kinds) {
    write(
      `${folder}/${group}_${kind.plural}.yaml`,
      header + stringify(crdOf(kind), { lineWidth: 110, aliasDuplicateObjects: false }),
    );
  }
}

write(
  "images/worker/contract.schema.json",
  json({
    $comment: "Written by `make gen` from src/schemas/worker.ts. Do not edit.",
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: Object.assign(
      {},
      ...Object.entries({ work, progress, result, termination }).map(([name, schema]) => {
        const io = name === "work" ? "output" : "input";
        const { $schema: _, $defs, ...definition } = z.toJSONSchema(schema, { io });
        return { [name]: definition, ...$defs };
      }),
    ),
  }),
);

for (const [name, dashboard] of Object.entries(makeDashboards()))
  write(`charts/plosive/files/dashboards/${name}`, json(dashboard));

const openApi = makeOpenApi(routes);
write("openapi.json", json(openApi));
write("docs/reference/rest.md", page(restReference(openApi as unknown as OpenApi)));
write("docs/reference/custom-resources.md", page(resourceReference(kinds)));

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
