// Primitive schemas: UUIDs, SHA-256 digests, names of artifact types, the size of records. Used by the other schemas.
import { z } from "zod";

export const uuid = z
  .uuid()
  .describe("UUID")
  .meta({ examples: ["0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11"] });
export const sha256Hex = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe("SHA-256 digest, 64 lower-case hexadecimal digits")
  .meta({
    minLength: 64,
    maxLength: 64,
    examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
  });
export const artifactTypeName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$/)
  .describe(
    "Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters",
  )
  .meta({ maxLength: 64, examples: ["click"] });

/** A budget of false alarms, of a training or of an inference job. */
export const falseAlarms = (text: string) =>
  z
    .number()
    .min(0.1)
    .max(100_000)
    .describe(
      `${text}. The number is for all types together and an hour of audio; a type keeps its own threshold if that is higher`,
    )
    .meta({ examples: [10] });

/** Whether the value has more than `most` members and items, at all depths together. Counts no further than that. */
function hasMore(value: unknown, most: number): boolean {
  let left = most;
  const count = (inner: unknown): boolean =>
    typeof inner === "object" &&
    inner !== null &&
    Object.values(inner).some((member) => --left < 0 || count(member));
  return count(value);
}

/**
 * Refuses a record with more members before they are parsed: zod would find a fault in each. It does so for lists itself. Members
 * and items of members count too, because an empty object takes thirty times the memory of its text.
 */
export function maxMembers(most: number) {
  const isLarger = (value: unknown) => !Array.isArray(value) && hasMore(value, most);
  const check = z.check<unknown>(({ value, issues }) => {
    const message = `must have at most ${most} members, at all depths together`;
    if (isLarger(value)) issues.push({ code: "custom", input: value, message });
  });
  check._zod.onattach.push(({ _zod }) => {
    _zod.deferred ??= [];
    _zod.deferred.push(() => {
      const { parse } = _zod;
      _zod.parse = (payload, context) => {
        if (!isLarger(payload.value)) return parse(payload, context);
        check._zod.check(payload);
        return payload;
      };
    });
  });
  return check;
}
