// Roles of the people who sign in to the dashboard through an OpenID provider (docs/dashboard.md#openid-connect).
import { z } from "zod";
import { keyScopes } from "./api-key.ts";

/** In ascending order. */
export const roles = ["viewer", "labeller", "owner"] as const;
export type Role = (typeof roles)[number];

/** What a caller may do: the scopes of a key, and `label`, a part of `write` that only a role can have alone. */
export const permissions = [...keyScopes, "label"] as const;
export type Permission = (typeof permissions)[number];

/** As for keys, an empty list means everything. */
export const permissionsOf: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["read"],
  labeller: ["read", "label"],
  owner: [],
};

/** The setting PLOSIVE_OIDC_ROLES: which value of the provider's claim gives which role in which account. */
export const roleMappings = z.array(
  z.strictObject({
    value: z.string().min(1).describe("A value of the claim, such as the name of a group"),
    tenant: z.guid().toLowerCase().describe("Id of the account"),
    role: z.enum(roles),
  }),
);
export type RoleMappings = z.infer<typeof roleMappings>;
