// Examples of request and response bodies, assembled from the examples in the schemas' members, so that every body has
// an up-to-date example. Called by operation.ts and answers.ts; a test checks each example against its schema.
import type { Components, Json } from "./schema.ts";

/** Returns a value that matches the schema: its own example, or one assembled from its members' examples. */
export function exampleOf(schema: Json, components: Components): unknown {
  const examples = schema.examples as unknown[] | undefined;
  if (examples !== undefined && examples.length > 0) return examples[0];
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return exampleOf(components[name] ?? {}, components);
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined && !isEmpty(schema.default)) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const choices = (schema.anyOf ?? schema.oneOf) as Json[] | undefined;
  if (choices !== undefined) {
    const choice = choices.find((one) => one.type !== "null") ?? {};
    return exampleOf(choice, components);
  }
  if (Array.isArray(schema.allOf)) return exampleOf(schema.allOf[0] as Json, components);
  return ofType(schema, components);
}

function ofType(schema: Json, components: Components): unknown {
  switch ([schema.type].flat()[0]) {
    case "object":
      return ofObject(schema, components);
    case "array":
      return [exampleOf((schema.items ?? {}) as Json, components)];
    case "integer":
    case "number":
      return Math.max(Number(schema.minimum ?? 0), 0);
    case "boolean":
      return true;
    case "string":
      return "text".padEnd(Number(schema.minLength ?? 0), "x");
    default:
      return {};
  }
}

function ofObject(schema: Json, components: Components): Json {
  const members = Object.entries((schema.properties ?? {}) as Record<string, Json>);
  return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member, components)]));
}

const isEmpty = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
