// Turns a kind of src/schemas into a CustomResourceDefinition. Throws, with the path, where the Kubernetes API server
// would not accept the result as a structural schema. Called by src/gen/main.ts.
import { z } from "zod";
import { unseen } from "../schemas/condition.ts";
import { apiVersion, group, type Kind } from "../schemas/kind.ts";

type Schema = { [key: string]: unknown };

/** The CRD of a kind as a plain object, ready to be written as YAML. */
export function crdOf(kind: Kind): Schema {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${kind.plural}.${group}`,
      labels: { "app.kubernetes.io/part-of": "plosive" },
    },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        shortNames: [kind.shortName],
        categories: ["plosive"],
      },
      versions: [
        {
          name: apiVersion,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: kind.columns.map((column) => ({
            name: column.name,
            type: column.type,
            jsonPath: column.jsonPath,
            description: column.description,
            ...(column.priority === undefined ? {} : { priority: column.priority }),
          })),
          schema: {
            openAPIV3Schema: {
              type: "object",
              description: kind.description,
              required: ["spec"],
              ...(kind.rules === undefined ? {} : { "x-kubernetes-validations": kind.rules }),
              properties: {
                spec: { description: "Desired state", ...structural(kind.spec, `${kind.kind}.spec`) },
                status: {
                  description: "Observed state, written by the operator",
                  // Without it, kstatus takes a resource that the operator has not seen for one that is complete.
                  default: { observedGeneration: unseen },
                  ...structural(kind.status, `${kind.kind}.status`),
                },
              },
            },
          },
        },
      ],
    },
  };
}

function structural(schema: z.ZodType, path: string): Schema {
  const json = z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", unrepresentable: "throw" });
  return clean(json as Schema, path, path.endsWith(".spec") || path.includes(".spec."));
}

const refused = ["oneOf", "anyOf", "allOf", "not", "$ref"];

function clean(node: Schema, path: string, described: boolean): Schema {
  for (const word of refused) {
    if (word in node)
      throw new Error(`${path}: a structural schema cannot contain ${word}; use an enum or a CEL rule`);
  }
  if (typeof node.type !== "string") throw new Error(`${path}: the schema has no type`);
  if (typeof node.pattern === "string" && /\(\?[=!<]/.test(node.pattern)) {
    throw new Error(`${path}: the API server does not support look-around in patterns: ${node.pattern}`);
  }
  const { properties, items, additionalProperties, examples: _examples, $schema: _schema, ...rest } = node;
  const result: Schema = { ...rest };
  if (properties !== undefined) {
    result.properties = Object.fromEntries(
      Object.entries(properties as Record<string, Schema>).map(([name, child]) => {
        if (described && typeof child.description !== "string") {
          throw new Error(`${path}.${name}: the field has no description; kubectl explain shows it`);
        }
        return [name, clean(child, `${path}.${name}`, described)];
      }),
    );
  }
  if (items !== undefined) result.items = clean(items as Schema, `${path}[]`, described);
  if (typeof additionalProperties === "object" && additionalProperties !== null) {
    result.additionalProperties = clean(additionalProperties as Schema, `${path}{}`, described);
  }
  return result;
}
