// One case of the table of hostile inputs: a request and its documented refusal. Defined in test/hostile/table,
// executed by inputs.test.ts.

export type Loc = readonly (string | number)[];

export interface HostileRequest {
  readonly method: string;
  /** Sent unchanged, except for ids of the test data in braces: `{dataset_id}`. */
  readonly path: string;
  /** Sent besides the key and, with a body, the content type. A header given here replaces them. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Text can contain ids of the test data in braces too. */
  readonly body?: string | Buffer;
  /** False: the request has no key. */
  readonly key?: false;
}

export interface HostileCase {
  readonly name: string;
  readonly request: HostileRequest;
  readonly status: number;
  /** The member `code` of the answer, or for 422 the `type` of one of the faults. */
  readonly code: string;
  /** Only for 422: the place of that fault. */
  readonly loc?: Loc;
}

/** Bytes that are not exactly one HTTP request, and the expected status line. */
export interface RawCase {
  readonly name: string;
  /** `{key}` and ids of the test data are replaced. */
  readonly bytes: string | Buffer;
  readonly status: number;
}

/** An id that does not exist. */
export const nobody = "00000000-0000-4000-8000-00000000dead";
