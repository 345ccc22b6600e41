// What a service account really asked of the API server, from the API server's own audit log. Used by kube.ts, for the
// tests that compare it with controllers/rbac.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Rule } from "../../controllers/rbac.ts";

const line = z.object({
  verb: z.string(),
  user: z.object({ username: z.string() }),
  stage: z.string(),
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

/** Flags of an API server that writes down who asked for what; `dir` is there already. */
export function auditFlags(dir: string): string[] {
  const policy = join(dir, "audit-policy.json");
  const rules = [{ level: "Metadata", omitStages: ["RequestReceived"] }];
  writeFileSync(policy, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }));
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${logIn(dir)}`];
}

/** `verb group/resource`, each once, in order: what a user asked for and got, and what it was refused. */
export function askedBy(dir: string, username: string): Asked {
  const asked = { allowed: new Set<string>(), refused: new Set<string>() };
  for (const { right, code } of requestsIn(dir, username))
    (code === 403 ? asked.refused : asked.allowed).add(right);
  return { allowed: [...asked.allowed].sort(), refused: [...asked.refused].sort() };
}

/** Each request of a user that has been answered, in order: `verb group/resource name`. */
export const requestsBy = (dir: string, username: string): string[] =>
  requestsIn(dir, username)
    .filter(({ isAnswered }) => isAnswered)
    .map(({ right, name }) => `${right} ${name}`.trimEnd());

function requestsIn(dir: string, username: string) {
  return readFileSync(logIn(dir), "utf8")
    .split("\n")
    .flatMap((text) => {
      if (!text.includes(username)) return [];
      const { verb, user, stage, objectRef, responseStatus } = line.parse(JSON.parse(text));
      // Discovery is about no object, and everybody's right.
      if (user.username !== username || objectRef === undefined) return [];
      const { apiGroup, resource, subresource, name } = objectRef;
      const what = subresource === undefined ? resource : `${resource}/${subresource}`;
      const right = rightOf(verb, apiGroup, what);
      return [{ right, name, code: responseStatus?.code, isAnswered: stage === "ResponseComplete" }];
    });
}

/** What rules allow, one verb and one resource each. */
export function rightsOf(rules: readonly Rule[]): string[] {
  return rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      verbs.flatMap((verb) =>
        apiGroups.flatMap((group) => resources.map((resource) => rightOf(verb, group, resource))),
      ),
    )
    .sort();
}

const logIn = (dir: string) => join(dir, "audit.log");
const rightOf = (verb: string, group: string, resource: string) =>
  `${verb} ${group === "" ? "" : `${group}/`}${resource}`;
