// The requests of a service account to the API server, from the API server's own audit log. Used by kube.ts for the
// tests that compare them with controllers/rbac.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Rule } from "../../controllers/rbac.ts";

const line = z.object({
  verb: z.string(),
  user: z.object({ username: z.string() }),
  stage: z.string(),
  requestURI: z.string(),
  objectRef: z
    .object({
      resource: z.string(),
      apiGroup: z.string().default(""),
      subresource: z.string().optional(),
      name: z.string().default(""),
    })
    .optional(),
  responseStatus: z.object({ code: z.int() }).optional(),
});

export type Asked = { allowed: string[]; refused: string[] };

/** Flags of an API server that writes an audit log into `dir`, which must exist. */
export function auditFlags(dir: string): string[] {
  const policy = join(dir, "audit-policy.json");
  const rules = [{ level: "Metadata", omitStages: ["RequestReceived"] }];
  writeFileSync(policy, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }));
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${logIn(dir)}`];
}

/** `verb group/resource`, each once, sorted: a user's allowed requests and its refused ones. */
export function askedBy(dir: string, username: string): Asked {
  const asked = { allowed: new Set<string>(), refused: new Set<string>() };
  for (const { right, code } of requestsIn(dir, username))
    (code === 403 ? asked.refused : asked.allowed).add(right);
  return { allowed: [...asked.allowed].sort(), refused: [...asked.refused].sort() };
}

/** Each answered request of a user, in order: `verb group/resource name`. */
export const requestsBy = (dir: string, username: string): string[] =>
  requestsIn(dir, username)
    .filter(({ isAnswered }) => isAnswered)
    .map(({ right, name }) => `${right} ${name}`.trimEnd());

function requestsIn(dir: string, username: string) {
  return readFileSync(logIn(dir), "utf8")
    .split("\n")
    .flatMap((text) => {
      if (!text.includes(username)) return [];
      const { verb, user, stage, requestURI, objectRef, responseStatus } = line.parse(JSON.parse(text));
      if (user.username !== username) return [];
      const request = { code: responseStatus?.code, isAnswered: stage === "ResponseComplete" };
      if (objectRef === undefined) {
        // Every user may send discovery requests.
        const isDiscovery = /^\/(apis?|version)\b/.test(requestURI);
        return isDiscovery ? [] : [{ right: `${verb} ${requestURI}`, name: "", ...request }];
      }
      const { apiGroup, resource, subresource, name } = objectRef;
      const what = subresource === undefined ? resource : `${resource}/${subresource}`;
      return [{ right: rightOf(verb, apiGroup, what), name, ...request }];
    });
}

/** The rights that the rules grant, one verb and one resource or path each. */
export function rightsOf(rules: readonly Rule[]): string[] {
  return rules
    .flatMap((rule) =>
      rule.verbs.flatMap((verb) =>
        "nonResourceURLs" in rule
          ? rule.nonResourceURLs.map((path) => `${verb} ${path}`)
          : rule.apiGroups.flatMap((group) =>
              rule.resources.map((resource) => rightOf(verb, group, resource)),
            ),
      ),
    )
    .sort();
}

const logIn = (dir: string) => join(dir, "audit.log");
const rightOf = (verb: string, group: string, resource: string) =>
  `${verb} ${group === "" ? "" : `${group}/`}${resource}`;
