// The certificates of the run endpoint in real TLS connections: a pod that started with one bundle of trusted certificates
// reaches the endpoint through every rotation of its life.
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { afterAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../../src/secrets/certificate.ts";
import { type Members, rotated, validDays } from "../../src/secrets/rotation.ts";

const host = "plosive-operator.voices.svc";
const day = 86_400_000;
const start = Date.now();
const folder = mkdtempSync(join(tmpdir(), "plosive-certificate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (days: number, present: Members) => {
  const now = start + days * day;
  return rotated(present, host, now, () => makeCertificate([host, `${host}.cluster.local`], now, validDays));
};

/** Whether a pod that trusts `bundle` accepts an endpoint with these members. TLS reads the clock, so only in the present. */
async function reaches(bundle: string, { "tls.crt": cert, "tls.key": key }: Required<Members>, name = host) {
  const server = createServer({ cert, key });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise<string>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port, ca: bundle, servername: name }, () => {
        socket.end();
        resolve("yes");
      });
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  } finally {
    server.close();
  }
}

const bundled = (bundle: string) => bundle.match(/BEGIN CERTIFICATE/g)?.length;

describe("a certificate", () => {
  it("passes OpenSSL's strict verification for its host, and for no other", () => {
    const { certificate } = makeCertificate([host], start, validDays);
    const file = join(folder, "one.crt");
    writeFileSync(file, certificate);
    const verify = (name: string) =>
      execFileSync(
        "openssl",
        [
          ...["verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", name],
          ...["-CAfile", file, file],
        ],
        { encoding: "utf8", stdio: "pipe" },
      );
    expect(verify(host)).toContain("OK");
    expect(() => verify("plosive-operator.other.svc")).toThrow();
    expect(new X509Certificate(certificate).ca).toBe(false);
  });

  it("is valid for its days, also beyond 2050", () => {
    const far = Date.UTC(2049, 11, 30);
    const { certificate } = makeCertificate([host], far, 10);
    expect(new X509Certificate(certificate).validToDate.toISOString()).toBe("2050-01-09T00:00:00.000Z");
  });
});

describe("the rotation", () => {
  it("makes both certificates at first, and changes nothing for 29 days", () => {
    const first = at(0, {});
    expect(bundled(first["ca.crt"])).toBe(2);
    expect(at(0, first)).toEqual(first);
    expect(at(29, first)).toEqual(first);
  });

  it("uses the next certificate after 30 days, which pods have trusted since", async () => {
    const first = at(0, {});
    const second = at(30, first);
    expect(second["tls.crt"]).toBe(first["next.crt"]);
    // A pod of the first month, in the second; and one of the second, at an operator that has not read the files again.
    expect(await reaches(first["ca.crt"], first)).toBe("yes");
    expect(await reaches(first["ca.crt"], second)).toBe("yes");
    expect(await reaches(second["ca.crt"], first)).toBe("yes");
    expect(await reaches(first["ca.crt"], first, "another.host")).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    expect(await reaches(at(0, {})["ca.crt"], first)).not.toBe("yes");
  });

  it("keeps the bundle short and without expired certificates", () => {
    let members: Required<Members> = at(0, {});
    for (let days = 0; days <= 400; days += 1) {
      members = at(days, members);
      const bundle = members["ca.crt"].match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n/g) ?? [];
      expect(bundle.length).toBeLessThanOrEqual(4);
      expect(bundle).toContain(members["tls.crt"]);
      expect(bundle).toContain(members["next.crt"]);
      for (const pem of bundle)
        expect(new X509Certificate(pem).validToDate.getTime()).toBeGreaterThan(start + days * day);
    }
  });

  it("replaces a certificate that cannot be used: expired, damaged, of another host or key", () => {
    const first = at(0, {});
    expect(at(200, first)["tls.crt"]).not.toBe(first["tls.crt"]);
    const other = makeCertificate(["elsewhere.svc"], start, validDays);
    for (const wrong of [
      { "tls.crt": "x" },
      { "tls.key": other.key },
      { "tls.crt": other.certificate, "tls.key": other.key },
    ])
      expect(at(0, { ...first, ...wrong })["tls.crt"]).not.toBe(first["tls.crt"]);
  });

  it("goes on with a certificate of an authority, as chart 0.1 made it, and trusts the authority", async () => {
    const run = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
    const key = ["-newkey", "rsa:2048", "-nodes", "-days", "3650"];
    run("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=plosive-runs");
    run(
      ...["req", "-x509", ...key, "-keyout", "tls.key", "-out", "tls.crt", "-subj", `/CN=${host}`],
      ...["-CA", "ca.crt", "-CAkey", "ca.key", "-addext", `subjectAltName=DNS:${host}`],
    );
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    const old = { "tls.crt": read("tls.crt"), "tls.key": read("tls.key"), "ca.crt": read("ca.crt") };
    const first = at(0, old);
    expect(first).toMatchObject({ "tls.crt": old["tls.crt"], "tls.key": old["tls.key"] });
    // A pod that chart 0.1 started, and a new one, at the endpoint of the new chart.
    expect(await reaches(old["ca.crt"], first)).toBe("yes");
    expect(await reaches(first["ca.crt"], first)).toBe("yes");
    expect(at(30, first)["tls.crt"]).toBe(first["next.crt"]);
  });
});
