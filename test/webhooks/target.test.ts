// The SSRF guard: no webhook URL may make the service call its own network. Covers every notation of an address and
// every range that is not the public internet.
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../src/webhooks/address.ts";
import { checkTarget } from "../../src/webhooks/target.ts";
import { hostileUrls, refusals } from "../support/hostile-urls.ts";

const none = new Set<string>();

function refusalOf(url: string, allowed: ReadonlySet<string> = none): string | null {
  const judged = checkTarget(url, allowed);
  return "refusal" in judged ? judged.refusal : null;
}

describe("the URL of a webhook", () => {
  it.each(hostileUrls)("such as %j is refused", (url, refusal) => {
    expect(refusalOf(url)).toBe(refusal);
  });

  it("is tested in more than 60 hostile forms", () => {
    expect(new Set(hostileUrls.map(([url]) => url)).size).toBeGreaterThanOrEqual(60);
  });

  it.each([
    "https://hooks.example.com",
    "https://hooks.example.com/",
    "https://HOOKS.example.com:443/a/b?c=d&e=%20",
    "https://hooks.example.com:8443/x",
    "https://xn--bcher-kva.example.com/",
    "https://127.0.0.1.hooks.example.com/",
    "https://1.example.com/",
  ])("such as %s is accepted", (url) => {
    expect(refusalOf(url)).toBeNull();
  });

  it("can have an origin that an administrator allows, and no other", () => {
    const allowed = new Set(["http://127.0.0.1:9000", "https://receiver.internal"]);
    expect(refusalOf("http://127.0.0.1:9000/hook", allowed)).toBeNull();
    expect(refusalOf("https://receiver.internal/hook", allowed)).toBeNull();
    expect(refusalOf("http://127.0.0.1:9001/hook", allowed)).toBe(refusals.scheme);
    expect(refusalOf("https://127.0.0.1:9000/hook", allowed)).toBe(refusals.port);
    expect(refusalOf("http://receiver.internal/hook", allowed)).toBe(refusals.scheme);
    expect(refusalOf("http://x@127.0.0.1:9000/hook", allowed)).toBe(refusals.credentials);
  });
});

describe("an IP address", () => {
  it.each([
    "0.0.0.0",
    "0.1.2.3",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.254",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
    "",
    "localhost",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "0x08080808",
  ])("such as %s is not public", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.167.255.255",
    "198.17.255.255",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "2001:4860:4860::8888",
  ])("such as %s is public", (text) => {
    expect(isPublicAddress(text)).toBe(true);
  });
});
