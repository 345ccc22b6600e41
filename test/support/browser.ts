// Debian's chromium, headless, for tests of pages: `const browser = useBrowser()`, then `await browser.page()` inside
// the tests. Every page records its errors: console messages, exceptions, and requests to other origins.
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

const executablePath = "/usr/bin/chromium";

export interface Watched {
  readonly page: Page;
  /** Errors and warnings of the console, exceptions, failed requests. */
  readonly complaints: string[];
  /** Every requested URL. */
  readonly requests: string[];
}

export interface TestBrowser {
  page(options?: Parameters<Browser["newPage"]>[0]): Promise<Watched>;
}

/** `args` are additional ones of the program. */
export function useBrowser(args: readonly string[] = []): TestBrowser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (!existsSync(executablePath)) throw new Error(`${executablePath} is missing: run \`make deps\``);
    // Chromium has no sandbox when it runs as root in a container. The pages are our own.
    browser = await chromium.launch({
      executablePath,
      args: ["--no-sandbox", "--disable-dev-shm-usage", ...args],
    });
  });
  afterAll(() => browser?.close());
  return {
    page: async (options) => {
      if (browser === undefined) throw new Error("the browser exists only while tests run");
      const page = await browser.newPage(options);
      // Large pages take time on a busy machine.
      page.setDefaultTimeout(50_000);
      const complaints: string[] = [];
      const requests: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("requestfailed", (request) => {
        const reason = request.failure()?.errorText;
        // The page gave the request up itself, for example because another page was opened.
        if (reason !== "net::ERR_ABORTED") complaints.push(`${request.url()} failed: ${reason}`);
      });
      page.on("request", (request) => requests.push(request.url()));
      return { page, complaints, requests };
    },
  };
}
