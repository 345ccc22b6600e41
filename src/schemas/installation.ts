// The name of an installation: one API and one operator, in one namespace of one cluster. Several of them may share a
// database, and each job belongs to one. Used by src/config.ts and src/db.
import { z } from "zod";

/** The name when none is set: of rows that tests add, and of a service that runs without the chart. */
export const defaultInstallation = "default";

/** A namespace and the name of a release, as the chart gives it, fit. */
export const installationName = z
  .string()
  .max(120)
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$/,
    "letters and digits, and between them also . _ / and -",
  );
