// Makes Node resolve every name below localhost as the loopback address (RFC 6761). glibc does so only with systemd's
// module. Loaded with NODE_OPTIONS=--import by the suite of `make compat` whose buckets are host names.
import { resolveBelow } from "./resolve.ts";

resolveBelow("localhost", "127.0.0.1");
