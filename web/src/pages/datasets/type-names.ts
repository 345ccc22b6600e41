// Rules for names of artifact types, as the service has them. Pure.

const pattern = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$/;

/** Names from a line such as "click, hum". */
export const parseNames = (line: string): string[] =>
  line
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** Why the service would refuse the name beside these others; undefined: it would not. */
export function faultOfName(name: string, others: readonly string[]): string | undefined {
  if (name === "") return "Enter a name.";
  if (name.length > 64) return "A name has at most 64 characters.";
  if (!pattern.test(name))
    return `Use the letters A to Z, digits, space, underscore, dot and hyphen, and begin with a letter or digit. Not so: ${name}`;
  if (others.some((other) => other.toLowerCase() === name.toLowerCase()))
    return `“${name}” is there twice. Upper and lower case make no difference.`;
  return undefined;
}
