// The types of settings that several variables of the environment have. Used by src/config.ts.
import { z } from "zod";

export const port = (value: number) => z.coerce.number().int().min(0).max(65535).default(value);
export const seconds = (value: number) => z.coerce.number().int().min(1).default(value);
export const count = (value: number) => z.coerce.number().int().min(0).default(value);

/** A comma-separated list of origins: scheme, host and port as browsers write them. */
export const origins = z
  .string()
  .default("")
  .transform((text) => text.split(/[\s,]+/).filter((origin) => origin !== ""))
  .pipe(
    z.array(
      z.url({ protocol: /^https?$/ }).refine((text) => URL.canParse(text) && new URL(text).origin === text),
    ),
  );

/** An address that other paths are appended to. */
export const address = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !/[?#]/.test(text), "must have no query and no fragment")
  .transform((text) => text.replace(/\/+$/, ""));

/** Nobody on the way can read what is sent there. */
export const isSafe = (text: string) => {
  const { protocol, hostname = "" } = URL.parse(text) ?? {};
  return (
    protocol === "https:" || (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname))
  );
};
