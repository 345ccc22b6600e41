// Fencing for Kubernetes: a client that refuses writes once this replica does not lead. A process that was frozen
// resumes in the middle of a reconcile, while another replica may lead already. Created by operator.ts.
import type { Kube } from "../../src/kube/client.ts";
import { RetryError } from "./outcome.ts";

/**
 * Writes throw RetryError once `leads` is false. It compares the lease with the local clock, so it needs no request.
 */
export function fenced(kube: Kube, leads: () => boolean): Kube {
  const check = () => {
    if (!leads()) throw new RetryError("this replica is no longer the leader");
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
