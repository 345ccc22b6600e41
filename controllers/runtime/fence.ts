// A Kubernetes client for what only the leader may do: it writes nothing once this replica does not lead. A process that
// was frozen goes on in the middle of a reconcile, and another one may lead by then. Made by operator.ts.
import type { Kube } from "../../src/kube/client.ts";
import { RetryError } from "./outcome.ts";

/** `leads` goes by this machine's clock, so it knows of the end of a lease without asking anybody. */
export function fenced(kube: Kube, leads: () => boolean): Kube {
  const check = () => {
    if (!leads()) throw new RetryError("this replica does not lead any more");
  };
  return {
    ...kube,
    async create(type, object) {
      check();
      return kube.create(type, object);
    },
    async replace(type, object, options) {
      check();
      return kube.replace(type, object, options);
    },
    async patch(type, ref, body) {
      check();
      return kube.patch(type, ref, body);
    },
    async apply(type, object, options) {
      check();
      return kube.apply(type, object, options);
    },
    async remove(type, ref, options) {
      check();
      return kube.remove(type, ref, options);
    },
    async evict(ref, options) {
      check();
      return kube.evict(ref, options);
    },
  };
}
