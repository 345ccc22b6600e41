// What the secrets job is told by the chart, as JSON in its only argument.
import { z } from "zod";

const name = z.string().min(1);
const kubeconfig = z.string().optional().describe("kubeconfig file; default: the pod's own service account");

export const secretsSettings = z.strictObject({
  namespace: name,
  kubeconfig,
  database: z
    .strictObject({ secret: name, address: name.describe("host:port/database") })
    .optional()
    .describe("Passwords and URLs of the embedded database's users"),
  objectStore: z.strictObject({ secret: name }).optional().describe("Keys of the embedded object store"),
  webhooks: z
    .strictObject({ secret: name })
    .optional()
    .describe("Key that encrypts webhook secrets in the database"),
  certificate: z
    .strictObject({ secret: name, host: name })
    .optional()
    .describe("Certificates of the run endpoint, if nobody else issues them"),
  authorities: z
    .strictObject({ secret: name, configMap: name })
    .optional()
    .describe("Copies ca.crt from the certificate's Secret into the ConfigMap that worker pods mount"),
});

export type SecretsSettings = z.infer<typeof secretsSettings>;

export const takeOverSettings = z.strictObject({
  namespace: name,
  kubeconfig,
  secret: name,
  folder: name.describe("Where the Secret of chart 0.1 is mounted; empty if there is none"),
});

export type TakeOverSettings = z.infer<typeof takeOverSettings>;
