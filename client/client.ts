// A typed client of the REST API: openapi-fetch over the generated types, with the key, patience, and errors that say
// what the service said. Used by the demo, the tests and the dashboard; runs in Node and in browsers.
//
//   const client = makeClient({ baseUrl, apiKey });
//   const dataset = await body(client.GET("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id } } }));
import createClient from "openapi-fetch";
import { ApiError } from "./error.ts";
import { makeRetryingFetch } from "./retry.ts";
import type { paths } from "./schema.ts";

export interface ClientOptions {
  readonly baseUrl: string;
  /** Without one, the caller is known otherwise: the dashboard's cookie. */
  readonly apiKey?: string;
  /** How long calls that may be repeated are, while the service is away or says when to try again. */
  readonly retryForMs?: number;
  /** How long one try may take. */
  readonly timeoutMs?: number;
}

export type Client = ReturnType<typeof makeClient>;

export function makeClient({ baseUrl, apiKey, retryForMs = 60_000, timeoutMs = 60_000 }: ClientOptions) {
  return createClient<paths>({
    baseUrl,
    headers: apiKey === undefined ? {} : { "X-API-Key": apiKey },
    fetch: makeRetryingFetch({ retryForMs, timeoutMs }),
  });
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** What the service answered; an ApiError unless it was a success. */
export async function body<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw new ApiError(response, error);
  return data as T;
}

/** All items of a list: `page` asks for one page. */
export async function allItems<T>(
  page: (query: { page: number; page_size: number }) => Promise<Answer<{ items: T[]; has_more: boolean }>>,
): Promise<T[]> {
  const items: T[] = [];
  for (let number = 1; ; number++) {
    const one = await body(page({ page: number, page_size: 100 }));
    items.push(...one.items);
    if (!one.has_more) return items;
  }
}
