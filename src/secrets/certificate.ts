// Makes the self-signed certificates of the run endpoint. Node has no function for it, and the libraries that have one
// bring more than ten packages into the image for this one fixed shape (docs/adr/0029). Called by rotation.ts.
import { generateKeyPairSync, hash, randomBytes, sign } from "node:crypto";

export interface Certificate {
  /** PEM */
  readonly certificate: string;
  readonly key: string;
}

const day = 86_400_000;
/** Clocks of nodes differ: a pod must not meet a certificate that is not valid yet. */
const earlier = 3_600_000;

/** Makes a key of P-256 and a certificate for `hosts` (DNS names) that is valid from `now` (ms) for `days`. */
export function makeCertificate(hosts: readonly string[], now: number, days: number): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  // Positive: the first bit is 0 and the first byte is not.
  const serial = Buffer.concat([Buffer.from([0x40]), randomBytes(15)]);
  // A name of its own for each, because OpenSSL looks for a trusted certificate by its name.
  const commonName = `plosive run endpoint ${serial.toString("hex")}`;
  const name = sequence(set(sequence(oid("550403"), utf8(commonName))));
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    name,
    sequence(time(now - earlier), time(now + days * day)),
    name,
    spki,
    tagged(
      3,
      sequence(
        // subjectAltName
        extension("551d11", false, sequence(...hosts.map((host) => tlv(0x82, Buffer.from(host, "ascii"))))),
        // basicConstraints: not an authority
        extension("551d13", true, sequence()),
        // keyUsage: digitalSignature
        extension("551d0f", true, tlv(0x03, Buffer.from([7, 0x80]))),
        // extKeyUsage: serverAuth
        extension("551d25", false, sequence(oid("2b06010505070301"))),
        // subjectKeyIdentifier
        extension("551d0e", false, octets(hash("sha1", spki, "buffer"))),
      ),
    ),
  );
  const der = sequence(body, ecdsaWithSha256, bits(sign("sha256", body, privateKey)));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** One value in DER: tag, length, content. */
function tlv(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]) => tlv(0x30, ...parts);
const set = (...parts: readonly Uint8Array[]) => tlv(0x31, ...parts);
const tagged = (number: number, content: Uint8Array) => tlv(0xa0 + number, content);
const integer = (content: Uint8Array) => tlv(0x02, content);
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, "hex"));
const octets = (content: Uint8Array) => tlv(0x04, content);
const utf8 = (text: string) => tlv(0x0c, Buffer.from(text));
const bits = (content: Uint8Array) => tlv(0x03, Buffer.from([0]), content);
/** GeneralizedTime, YYYYMMDDHHMMSSZ. RFC 5280 wants UTCTime before 2050. */
const time = (ms: number) => {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  return text < "2050" ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text));
};
const extension = (id: string, isCritical: boolean, value: Uint8Array) =>
  sequence(oid(id), ...(isCritical ? [tlv(0x01, Buffer.from([0xff]))] : []), octets(value));
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
