// Which IP addresses a webhook may reach: only those of the public internet. Asked by send.ts for every address that a
// name leads to, at every attempt.
import { BlockList, isIP } from "node:net";

// The IANA registries of special-purpose addresses (IPv4 and IPv6), what is not globally reachable in them, and the IPv6
// forms that carry an IPv4 address inside.
const refused4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, metadata services of clouds
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments, among them 192.0.0.192, metadata of one cloud
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
  "168.63.129.16/32", // a public address that is one cloud's metadata and DNS
];
// Of IPv6 only 2000::/3 is given out at all; these parts of it are not for us.
const refused6 = [
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
];

const refused = blockList([...refused4, ...refused6]);
const global6 = blockList(["2000::/3"]);

/** Whether this text is an IP address of the public internet. Anything that is not plainly one is not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, "ipv4");
  // With a zone it is link-local; mapped, translated and unspecified addresses lie outside of 2000::/3.
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
