// Creates the certificates of a local cluster: one authority, a server certificate and one client certificate per
// component. Called by control-plane.ts (tests) and up.ts (the full cluster). Uses the openssl command; EC keys take
// only 0.1 s.
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Pki {
  readonly dir: string;
  readonly caFile: string;
  /** Certificate and key files of a component, e.g. pair("admin"). */
  pair(name: string): { readonly cert: string; readonly key: string };
}

interface Client {
  readonly name: string;
  readonly user: string;
  readonly group?: string;
}

/** The identities of Kubernetes' RBAC bootstrap policy. admin is in system:masters, which bypasses RBAC. */
function clients(nodeName: string): readonly Client[] {
  return [
    { name: "admin", user: "admin", group: "system:masters" },
    { name: "controller-manager", user: "system:kube-controller-manager" },
    { name: "scheduler", user: "system:kube-scheduler" },
    { name: "proxy", user: "system:kube-proxy" },
    { name: "kubelet", user: `system:node:${nodeName}`, group: "system:nodes" },
    { name: "dns", user: "plosive:dns" },
    { name: "network-policy", user: "plosive:network-policy" },
    // The API server authenticates with it to the kubelet, for logs and exec.
    { name: "apiserver-kubelet", user: "kube-apiserver-kubelet-client", group: "system:masters" },
  ];
}

export function pkiAt(dir: string): Pki {
  return {
    dir,
    caFile: join(dir, "ca.crt"),
    pair: (name) => ({ cert: join(dir, `${name}.crt`), key: join(dir, `${name}.key`) }),
  };
}

/** Creates all keys and certificates below `dir`. `addresses` are the IP addresses of the API server. */
export async function makePki(dir: string, addresses: readonly string[], nodeName: string): Promise<Pki> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const pki = pkiAt(dir);
  const ca = pki.pair("ca");
  const newKey = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-days",
    "3650",
  ];
  await run("openssl", [
    ...newKey,
    "-keyout",
    ca.key,
    "-out",
    ca.cert,
    "-subj",
    "/CN=plosive-local",
    "-addext",
    "keyUsage=critical,keyCertSign,cRLSign",
  ]);
  const issue = (name: string, subject: string, extensions: readonly string[]) =>
    run("openssl", [
      ...newKey,
      "-keyout",
      pki.pair(name).key,
      "-out",
      pki.pair(name).cert,
      "-subj",
      subject,
      "-CA",
      ca.cert,
      "-CAkey",
      ca.key,
      ...extensions.flatMap((extension) => ["-addext", extension]),
    ]);
  const names = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
  ];
  const alternatives = [
    ...names.map((name) => `DNS:${name}`),
    ...addresses.map((address) => `IP:${address}`),
  ].join(",");
  const notCa = "basicConstraints=critical,CA:FALSE";
  await Promise.all([
    issue("apiserver", "/CN=kube-apiserver", [
      notCa,
      "extendedKeyUsage=serverAuth",
      `subjectAltName=${alternatives}`,
    ]),
    ...clients(nodeName).map(({ name, user, group }) =>
      issue(name, `${group ? `/O=${group}` : ""}/CN=${user}`, [notCa, "extendedKeyUsage=clientAuth"]),
    ),
  ]);
  const serviceAccounts = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "sec1", format: "pem" },
  });
  writeFileSync(join(dir, "service-accounts.key"), serviceAccounts.privateKey, { mode: 0o600 });
  writeFileSync(join(dir, "service-accounts.pub"), serviceAccounts.publicKey);
  return pki;
}

/** Writes a kubeconfig with embedded certificates, so that the file can be copied anywhere on this machine. */
export function writeKubeconfig(
  path: string,
  pki: Pki,
  server: string,
  identity: string,
  cluster = "plosive",
): void {
  const base64 = (file: string) => readFileSync(file).toString("base64");
  const { cert, key } = pki.pair(identity);
  writeFileSync(
    path,
    `apiVersion: v1
kind: Config
current-context: ${cluster}
clusters:
- name: ${cluster}
  cluster: {server: "${server}", certificate-authority-data: ${base64(pki.caFile)}}
users:
- name: ${identity}
  user: {client-certificate-data: ${base64(cert)}, client-key-data: ${base64(key)}}
contexts:
- name: ${cluster}
  context: {cluster: ${cluster}, user: ${identity}}
`,
    { mode: 0o600 },
  );
}
