// Lookups by names that people, programs or later versions have chosen.

/** The object's own member: a type may be called “constructor”. */
export const own = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;
