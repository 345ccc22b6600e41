// Web pages may use the bucket: the CORS rule that the set-up job gives it.
import { expect, it } from "vitest";
import { s3Program } from "../../tools/s3.ts";
import { useStorage } from "../support/s3.ts";

const store = useStorage();

/** What a browser asks before a page of another origin sends an upload. */
async function preflight(method: string): Promise<(string | null)[]> {
  const url = await store.storage.presignGet("incoming/x", { expiresSeconds: 60, audience: "client" });
  const { headers, status } = await fetch(url, {
    method: "OPTIONS",
    headers: {
      Origin: "https://plosive.example.com",
      "Access-Control-Request-Method": method,
      "Access-Control-Request-Headers": "content-type",
    },
  });
  return [String(status), headers.get("access-control-allow-origin")];
}

it("lets pages of any origin send and read, and keeps the rules that a bucket has", async () => {
  if (s3Program() === "versitygw") {
    expect((await preflight("PUT"))[1]).toBeNull();
    expect([await store.storage.allowPages(), await store.storage.allowPages()]).toEqual([true, false]);
  } else {
    // MinIO knows no rules of a bucket, and allows all origins.
    await expect(store.storage.allowPages()).rejects.toThrow();
  }
  for (const method of ["GET", "POST", "PUT"])
    expect(await preflight(method), method).toEqual([
      expect.stringMatching(/^20[04]$/),
      expect.stringMatching(/^(\*|https:\/\/plosive\.example\.com)$/),
    ]);
});
