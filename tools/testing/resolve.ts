// Makes Node look up some names as an address of the test's choice. Called by tools/testing/localhost.ts and by the drill.
import dns from "node:dns";

/** From now on every name below `domain` has this address in this process. */
export function resolveBelow(domain: string, address: string): void {
  const lookup = dns.lookup;
  const own = Object.assign(
    (name: string, ...rest: unknown[]) =>
      Reflect.apply(lookup, dns, [name.endsWith(`.${domain}`) ? address : name, ...rest]),
    lookup,
  );
  dns.lookup = own as typeof lookup;
}
