// A typed client of the REST API: openapi-fetch with the generated types, the API key, retries, and errors with the
// message of the service. Used by the demo, the tests and the dashboard; runs in Node and in browsers.
//
//   const client = makeClient({ baseUrl, apiKey });
//   const dataset = await body(client.GET("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id } } }));
import createClient from "openapi-fetch";
import { ApiError } from "./error.ts";
import { makeRetryingFetch } from "./retry.ts";
import type { paths } from "./schema.ts";

export interface ClientOptions {
  readonly baseUrl: string;
  /** Not needed if the server authenticates the caller in another way, as with the dashboard's cookie. */
  readonly apiKey?: string;
  /**
   * How long a call is retried, if it is safe to repeat, while the service is unavailable or asks for a later attempt.
   */
  readonly retryForMs?: number;
  /** Timeout of one attempt. */
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

/** Returns the body of a successful response. Throws an ApiError for any other response. */
export async function body<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw new ApiError(response, error);
  return data as T;
}

/** Returns all items of a list. `page` requests one page. */
export async function allItems<T>(
  page: (query: { page: number; page_size: number }) => Promise<Answer<{ items: T[]; has_more: boolean }>>,
): Promise<T[]> {
  const items: T[] = [];
  for (let number = 1; ; number++) {
    const result = await body(page({ page: number, page_size: 100 }));
    items.push(...result.items);
    if (!result.has_more) return items;
  }
}
