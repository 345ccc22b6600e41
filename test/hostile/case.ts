// What a line of the table of hostile inputs is: a request, and the refusal that it must get. Filled by the files of
// test/hostile/table, played by inputs.test.ts.

export type Loc = readonly (string | number)[];

export interface HostileRequest {
  readonly method: string;
  /** Sent as it stands, but for ids of the world in braces: `{dataset_id}`. */
  readonly path: string;
  /** Besides the key and, with a body, the content type; a header given here takes the place of those. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Text may name ids of the world in braces too. */
  readonly body?: string | Buffer;
  /** False: no key is sent. */
  readonly key?: false;
}

export interface HostileCase {
  readonly name: string;
  readonly request: HostileRequest;
  readonly status: number;
  /** The member `code` of the answer, or with 422 the `type` of one of the faults. */
  readonly code: string;
  /** Only 422: where that fault is. */
  readonly loc?: Loc;
}

/** A request that is no HTTP, or not one: its bytes, and what the first line of the answer must say. */
export interface RawCase {
  readonly name: string;
  /** `{key}` and ids of the world are filled in. */
  readonly bytes: string | Buffer;
  readonly status: number;
}

/** An id that nobody made. */
export const nobody = "00000000-0000-4000-8000-00000000dead";
