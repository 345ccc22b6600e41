// Decides which IP addresses a request to a client's URL may reach: only those of the public internet. request.ts checks every
// address that a host name resolves to, at every attempt.
import { BlockList, isIP } from "node:net";

// The ranges that are not globally reachable in the IANA registries of special-purpose addresses (IPv4 and IPv6), and
// the IPv6 forms that embed an IPv4 address.
const refused4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, metadata services of clouds
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments, including 192.0.0.192, the metadata service of one cloud
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // AMT
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
  "168.63.129.16/32", // public, but one cloud's metadata and DNS service
];
// Global unicast IPv6 addresses lie in 2000::/3 only; these ranges inside it are refused.
const refused6 = [
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
];

const refused = blockList([...refused4, ...refused6]);
const global6 = blockList(["2000::/3"]);

/** Whether this text is an IP address of the public internet. False when in doubt. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, "ipv4");
  // An address with a zone is link-local. Mapped, translated and unspecified addresses lie outside 2000::/3.
  if (family === 6 && !address.includes("%"))
    return global6.check(address, "ipv6") && !refused.check(address, "ipv6");
  return false;
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = "", bits = ""] = range.split("/");
    list.addSubnet(net, Number(bits), net.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}
