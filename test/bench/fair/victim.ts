// The requests of the measured tenants, sent from a thread of their own: in the thread of the attack they would wait for
// its 8 MB bodies to be sent. Started by main.ts.
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Measured, makeSend, measure, type Request } from "./traffic.ts";

export interface Victim {
  readonly key: string;
  /** Sent in turn. */
  readonly requests: readonly Request[];
}

export interface Victims {
  readonly baseUrl: string;
  /** They send in turn. */
  readonly victims: readonly Victim[];
  /** Requests per second of each. */
  readonly perSecond: number;
}

export async function measureInThread(victims: Victims, seconds: number): Promise<Measured> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { ...victims, seconds } });
  const [measured] = await once(thread, "message");
  return measured;
}

if (!isMainThread && parentPort !== null) {
  // The thread of the attack has a low priority (main.ts), which this one would inherit.
  setPriority(constants.priority.PRIORITY_NORMAL);
  const { baseUrl, victims, perSecond, seconds } = workerData as Victims & { seconds: number };
  const clients = victims.map(({ key, requests }) => ({ ...makeSend(baseUrl, key), requests }));
  const next = async (nth: number) => {
    const { send, requests } = clients[nth % clients.length]!;
    const request = requests[Math.floor(nth / clients.length) % requests.length]!;
    return { ...(await send(request)), method: request.method };
  };
  parentPort.postMessage(await measure(next, perSecond * clients.length, seconds));
  for (const { end } of clients) end();
}
