// Debian's chromium-headless-shell, which needs half of the processor time of Debian's chromium, or, with
// PLOSIVE_TEST_BROWSER=firefox (`make compat`), Debian's firefox-esr, for tests of pages: `const browser = useBrowser()`, then
// `await browser.page()` inside the tests. Every page records its errors: console messages, exceptions, and requests to
// other origins.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, firefox, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { poll } from "./poll.ts";

/** The name of the browser that tests run in. */
export const browserName = process.env.PLOSIVE_TEST_BROWSER ?? "chromium";
const executablePath =
  browserName === "firefox" ? "/usr/bin/firefox-esr" : "/usr/bin/chromium-headless-shell";

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

/** `hosts` are names that the browser resolves to 127.0.0.1. */
export function useBrowser(hosts: readonly string[] = []): TestBrowser {
  let browser: Browser | undefined;
  let stopSound: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    if (!existsSync(executablePath)) throw new Error(`${executablePath} is missing: run \`make test-deps\``);
    if (browserName === "firefox") {
      const sound = await startSound();
      stopSound = sound.stop;
      browser = await launchFirefox(hosts, sound.server);
    } else browser = await launchChromium(hosts);
  });
  afterAll(async () => {
    await browser?.close();
    await stopSound?.();
  });
  return {
    page: async (options) => {
      if (browser === undefined) throw new Error("the browser exists only while tests run");
      const page = await browser.newPage(options);
      // Large pages take time on a busy machine.
      page.setDefaultTimeout(50_000);
      const complaints: string[] = [];
      const requests: string[] = [];
      page.on("console", (message) => {
        // Firefox logs what Chromium reports as an aborted request.
        if (message.text().endsWith("was interrupted while the page was loading.")) return;
        if (message.type() !== "error" && message.type() !== "warning") return;
        complaints.push(`${message.text()} ${message.location().url}`.trim());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("requestfailed", (request) => {
        const reason = request.failure()?.errorText;
        // The page gave the request up itself, for example because another page was opened.
        if (reason !== "net::ERR_ABORTED" && reason !== "NS_BINDING_ABORTED")
          complaints.push(`${request.url()} failed: ${reason}`);
      });
      page.on("request", (request) => requests.push(request.url()));
      return { page, complaints, requests };
    },
  };
}

const launchChromium = (hosts: readonly string[]) =>
  chromium.launch({
    executablePath,
    args: [
      // Chromium has no sandbox when it runs as root in a container. The pages are our own.
      "--no-sandbox",
      "--disable-dev-shm-usage",
      ...hosts.map((host) => `--host-resolver-rules=MAP ${host} 127.0.0.1`),
    ],
  });

/**
 * Mozilla's own builds, and Debian's, speak WebDriver BiDi, which playwright-core uses for this channel. Its version is
 * held below 1.65 (.github/renovate.json).
 */
const launchFirefox = (hosts: readonly string[], soundServer: string) =>
  firefox.launch({
    executablePath,
    channel: "moz-firefox",
    env: { ...process.env, PULSE_SERVER: soundServer },
    firefoxUserPrefs: {
      // As in headless Chromium, sound starts without a click.
      "media.autoplay.default": 0,
      "network.dns.localDomains": hosts.join(","),
      // Firefox would contact hosts of Mozilla.
      "network.captive-portal-service.enabled": false,
      "network.connectivity-service.enabled": false,
    },
  });

/** Firefox plays nothing without a sound device: PulseAudio offers one that discards the sound. */
async function startSound(): Promise<{ readonly server: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "plosive-sound-"));
  const socket = join(folder, "socket");
  const modules = ["module-null-sink", `module-native-protocol-unix auth-anonymous=1 socket=${socket}`];
  const pulseaudio = spawn(
    "pulseaudio",
    ["-n", "--use-pid-file=no", "--exit-idle-time=-1", ...modules.flatMap((module) => ["-L", module])],
    { env: { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder }, stdio: "ignore" },
  );
  const ended = once(pulseaudio, "exit");
  await poll("the sound device", () => existsSync(socket), 30_000);
  return {
    server: `unix:${socket}`,
    async stop() {
      pulseaudio.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
