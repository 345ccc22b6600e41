// The requests of the measured tenant, sent from a thread of their own: in the thread of the attack they would wait for
// its 8 MB bodies to be sent. Started by main.ts.
import { once } from "node:events";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Measured, makeSend, measure, type Request } from "./traffic.ts";

export interface Victim {
  readonly baseUrl: string;
  readonly key: string;
  /** Sent in turn. */
  readonly requests: readonly Request[];
  readonly perSecond: number;
}

export async function measureInThread(victim: Victim, seconds: number): Promise<Measured> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { ...victim, seconds } });
  const [measured] = await once(thread, "message");
  return measured;
}

if (!isMainThread && parentPort !== null) {
  const { baseUrl, key, requests, perSecond, seconds } = workerData as Victim & { seconds: number };
  const { send, end } = makeSend(baseUrl, key);
  const next = (nth: number) => send(requests[nth % requests.length]!);
  parentPort.postMessage(await measure(next, perSecond, seconds));
  end();
}
