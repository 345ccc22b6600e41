// Access to the API server from a pod: the address from the environment, the CA and the token from files that the
// kubelet renews. Also access with a kubeconfig file.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { podAccess, serverAccess } from "../../src/kube/config.ts";

const folder = mkdtempSync(join(tmpdir(), "plosive-account-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "ca.crt"), "authority");

describe("a pod's access to its API server", () => {
  it("has the address of the environment, IPv4 or IPv6", () => {
    expect(podAccess({ host: "10.0.0.1", port: "443" }, 0, folder).server).toBe("https://10.0.0.1:443");
    expect(podAccess({ host: "fd00::1", port: "6443" }, 0, folder).server).toBe("https://[fd00::1]:6443");
  });

  it("reads the token again when it has reached its maximum age, and after a failed read", async () => {
    const patient = podAccess({ host: "h", port: "1" }, 60_000, folder);
    const eager = podAccess({ host: "h", port: "1" }, -1, folder);
    await expect(patient.credentials()).rejects.toThrow("token");
    writeFileSync(join(folder, "token"), "one\n");
    const one = { ca: "authority", headers: { authorization: "Bearer one" } };
    expect([await patient.credentials(), await eager.credentials()]).toEqual([one, one]);
    writeFileSync(join(folder, "token"), "two");
    const two = { ca: "authority", headers: { authorization: "Bearer two" } };
    expect([await patient.credentials(), await eager.credentials()]).toEqual([one, two]);
  });

  it("fails outside of a pod with an error that names the variable to set", () => {
    expect(() => podAccess({ host: undefined, port: undefined }, 0)).toThrow("PLOSIVE_KUBECONFIG");
  });
});

describe("access by a kubeconfig file", () => {
  it("uses the address and the token of the file", async () => {
    const file = join(folder, "kubeconfig");
    const certificate = Buffer.from("pem").toString("base64");
    writeFileSync(
      file,
      JSON.stringify({
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
        clusters: [
          {
            name: "k",
            cluster: { server: "https://127.0.0.1:6443/", "certificate-authority-data": certificate },
          },
        ],
        users: [{ name: "u", user: { token: "secret" } }],
      }),
    );
    const access = serverAccess(file);
    expect(access.server).toBe("https://127.0.0.1:6443");
    expect(await access.credentials()).toMatchObject({ headers: { Authorization: "Bearer secret" } });
  });
});
