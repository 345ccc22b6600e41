// Step 2 of the upload, as a client does it. Called by tests that upload.

interface Form {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * POSTs the form with the bytes as its last field and returns the store's status. Repeats a 409, as client/upload.ts does:
 * versitygw answers it when another request removes the emptied folder of the key at the same moment.
 */
export async function postForm(form: Form, bytes: Buffer, filename = "x.wav"): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const body = new FormData();
    for (const [name, value] of Object.entries(form.fields)) body.append(name, value);
    body.append("file", new Blob([new Uint8Array(bytes)]), filename);
    const response = await fetch(form.url, { method: "POST", body });
    await response.arrayBuffer();
    if (response.status !== 409 || attempt === 3) return response.status;
  }
}

interface Part {
  readonly offset_bytes: number;
  readonly size_bytes: number;
  readonly url: string;
}

/** PUTs the part's bytes of the file, or other ones, and returns the store's status. */
export async function putPart(part: Part, file: Buffer, body?: Buffer): Promise<number> {
  const { offset_bytes: start, size_bytes: size } = part;
  const bytes = new Uint8Array(body ?? file.subarray(start, start + size));
  const response = await fetch(part.url, { method: "PUT", body: bytes });
  await response.arrayBuffer();
  return response.status;
}
