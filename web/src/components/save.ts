// Saves what the service exports as a file. A link to the address would not do: the answer of a failure would be saved as
// the file, or take the place of the page. Called by the menus with exports.
import { body, reasonOf } from "../app/api.ts";
import { notify } from "./toast.tsx";

export async function save(
  call: Promise<{ data?: Blob; error?: unknown; response: Response }>,
): Promise<void> {
  notify("The export is being prepared");
  try {
    const answer = await call;
    // An export without labels may be empty. Then the client gives no data.
    const file = (await body(Promise.resolve(answer))) ?? new Blob();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    const name = /filename\*=UTF-8''([^;]+)/.exec(answer.response.headers.get("Content-Disposition") ?? "");
    link.download = decodeURIComponent(name?.[1] ?? "export");
    link.click();
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (error) {
    notify(`The export failed: ${reasonOf(error)}`, { tone: "bad" });
  }
}
