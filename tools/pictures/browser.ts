// The browser that draws pictures of our own pages. Called by main.ts and by the trial of the alerts.
import { type Browser, chromium } from "playwright-core";

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: "/usr/bin/chromium-headless-shell",
    // Chromium has no sandbox when it runs as root in a container.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
