// zod schemas as JSON Schema in the form that the description has them: shared ones as components, limits on everything.
// Called by the other files here.
import { z } from "zod";

export type Json = Record<string, unknown>;
export type Components = Record<string, Json>;
export type Direction = "input" | "output";

/** Rules that hold for every answer and are described in the introduction: no client has to read more than this. */
export const answerLimits = { text: 65_535, items: 1_000_000 };

/** A reference for a schema with an id, the schema itself otherwise. Fills `components`. */
export function schemaOf(schema: z.ZodType, io: Direction, components: Components): Json {
  const { $schema, $defs, ...root } = z.toJSONSchema(schema, { target: "draft-2020-12", io }) as Json;
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const tidy = tidied(definition, io);
    const known = components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(tidy))
      throw new Error(`two different schemas are called ${name}`);
    components[name] = tidy;
  }
  return tidied(root, io);
}

/** Points references to the components, leaves objects open, and says the limits that types imply. */
function tidied(schema: Json, io: Direction): Json {
  const tidy = Object.fromEntries(
    Object.entries(schema).flatMap(([name, member]) => {
      if (name === "$ref" && typeof member === "string")
        return [[name, member.replace("#/$defs/", "#/components/schemas/")]];
      // Closed objects would forbid the members that later versions add, and those that we ignore.
      if (name === "additionalProperties" && member === false) return [];
      // Names of members are texts anyway.
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
