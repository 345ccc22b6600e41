// Converts zod schemas to the JSON Schema of the OpenAPI description: shared schemas become components, and all types
// get limits. Called by the other files of this folder.
import { z } from "zod";

export type Json = Record<string, unknown>;
export type Components = Record<string, Json>;
export type Direction = "input" | "output";

/** Upper bounds of texts and lists in responses, which the introduction documents. */
export const answerLimits = { text: 65_535, items: 1_000_000 };

/**
 * Converts a schema: to a reference if it has an id, else to the schema itself. Adds to `components`. Throws if two
 * different schemas have the same id.
 */
export function schemaOf(schema: z.ZodType, io: Direction, components: Components): Json {
  const { $schema, $defs, ...root } = z.toJSONSchema(schema, { target: "draft-2020-12", io }) as Json;
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const tidy = tidied(definition, io);
    const known = components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(tidy))
      throw new Error(`two different schemas have the id ${name}`);
    components[name] = tidy;
  }
  return tidied(root, io);
}

/** Makes references point to the components, keeps objects open, and adds the limits that types imply. */
function tidied(schema: Json, io: Direction): Json {
  const tidy = Object.fromEntries(
    Object.entries(schema).flatMap(([name, member]) => {
      if (name === "$ref" && typeof member === "string")
        return [[name, member.replace("#/$defs/", "#/components/schemas/")]];
      // Closed objects would forbid members that later versions add, and unknown members, which the service ignores.
      if (name === "additionalProperties" && member === false) return [];
      // Redundant: member names are always strings.
      if (name === "propertyNames" && JSON.stringify(member) === '{"type":"string"}') return [];
      if (["examples", "example", "default", "enum", "const", "required"].includes(name))
        return [[name, member]];
      return [[name, tidiedMember(member, io)]];
    }),
  );
  return limited(tidy, io);
}

function tidiedMember(member: unknown, io: Direction): unknown {
  if (Array.isArray(member)) return member.map((item) => tidiedMember(item, io));
  return typeof member === "object" && member !== null ? tidied(member as Json, io) : member;
}

function limited(schema: Json, io: Direction): Json {
  const is = (type: string) => [schema.type].flat().includes(type);
  if (is("integer")) {
    const small = Number(schema.minimum) >= -(2 ** 31) && Number(schema.maximum) < 2 ** 31;
    return { ...schema, format: small ? "int32" : "int64" };
  }
  if (is("string") && schema.enum === undefined && schema.const === undefined) {
    if (schema.format === "uuid") return { ...schema, maxLength: 36 };
    return io === "output" ? { maxLength: answerLimits.text, ...schema } : schema;
  }
  if (is("array") && io === "output") return { maxItems: answerLimits.items, ...schema };
  return schema;
}
