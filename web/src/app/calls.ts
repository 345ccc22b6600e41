// The requests that the present page has made, for the drawer "API calls". Reads are listed until the page is left, and
// writes until they are pushed out by newer ones. Filled by api.ts.
import { signal } from "@preact/signals";
import type { ApiCall } from "./code.ts";

export interface CallRecord extends ApiCall {
  readonly id: string;
  readonly status: number | undefined;
  readonly tookMs: number | undefined;
  readonly requestId: string | null;
}

const most = 40;

export const calls = signal<readonly CallRecord[]>([]);

/** Adds a request. It takes the place of an earlier read of the same address. */
export function began(id: string, call: ApiCall): void {
  const address = addressOf(call);
  const others = calls
    .peek()
    .filter((other) => other.method !== "GET" || call.method !== "GET" || addressOf(other) !== address);
  const record = { ...call, id, status: undefined, tookMs: undefined, requestId: null };
  calls.value = [record, ...others].slice(0, most);
}

export function ended(id: string, status: number, tookMs: number, requestId: string | null): void {
  calls.value = calls.peek().map((call) => (call.id === id ? { ...call, status, tookMs, requestId } : call));
}

export function forgetReads(): void {
  calls.value = calls.peek().filter(({ method }) => method !== "GET");
}

const addressOf = ({ path, params }: ApiCall) => JSON.stringify([path, params.path, params.query]);
