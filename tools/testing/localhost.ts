// Makes Node resolve every name below localhost as the loopback address (RFC 6761). glibc does so only with systemd's
// module. Loaded with NODE_OPTIONS=--import by the suite of `make compat` whose buckets are host names.
import dns from "node:dns";

const lookup = dns.lookup;
const loopback = Object.assign(
  (name: string, ...rest: unknown[]) =>
    Reflect.apply(lookup, dns, [name.endsWith(".localhost") ? "127.0.0.1" : name, ...rest]),
  lookup,
);
dns.lookup = loopback as typeof lookup;
