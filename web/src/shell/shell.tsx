// What surrounds every page: navigation, account, the drawer of API calls, keys that work everywhere.
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { href } from "../app/base.ts";
import { forgetReads } from "../app/calls.ts";
import { CurrentPage } from "../app/pages.tsx";
import { location, navigate, path } from "../app/router.ts";
import type { Session } from "../app/session.ts";
import { useShortcut } from "../app/shortcuts.ts";
import { IconButton } from "../components/button.tsx";
import { isDrawerOpen } from "../components/code-drawer-state.ts";
import { Icon, type IconName, Mark } from "../components/icon.tsx";
import { uploadSummary } from "../uploads/summary.ts";
import { AccountMenu } from "./account-menu.tsx";

interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  readonly keys: string;
}

const places: readonly Place[] = [
  { to: "/", label: "Overview", icon: "overview", keys: "g o" },
  { to: "/datasets", label: "Datasets", icon: "datasets", keys: "g d" },
  { to: "/training", label: "Training", icon: "training", keys: "g t" },
  { to: "/models", label: "Models", icon: "model", keys: "g m" },
  { to: "/inference", label: "Inference", icon: "inference", keys: "g i" },
];

const settings: readonly Place[] = [
  { to: "/settings/api-keys", label: "API Keys", icon: "key", keys: "g k" },
  { to: "/settings/webhooks", label: "Webhooks", icon: "webhook", keys: "g w" },
  { to: "/settings/usage", label: "Usage", icon: "usage", keys: "g u" },
];

export const isHelpOpen = signal(false);
const isPaletteOpen = signal(false);
const isNavOpen = signal(false);

export function Shell({ session }: { session: Session }) {
  useShortcut("mod+k", "Go to a page or dataset", () => (isPaletteOpen.value = true));
  useShortcut("a", "Show the API calls of this page", () => (isDrawerOpen.value = !isDrawerOpen.peek()));
  useShortcut("?", "Show the keys", () => (isHelpOpen.value = true));
  useEffect(
    () =>
      path.subscribe(() => {
        forgetReads();
        isNavOpen.value = false;
      }),
    [],
  );
  return (
    <div class="shell" data-drawer={isDrawerOpen.value || undefined}>
      <a class="skip" href={`${href(path.value)}${location.value.search}#main`}>
        Skip to the content
      </a>
      <header class="side" data-open={isNavOpen.value || undefined}>
        <div class="side-head">
          <a class="brand" href={href("/")}>
            <Mark />
            <span>Plosive</span>
          </a>
          <span class="only-narrow">
            <IconButton
              icon={isNavOpen.value ? "close" : "menu"}
              label={isNavOpen.value ? "Close the navigation" : "Open the navigation"}
              aria-expanded={isNavOpen.value}
              aria-controls="side-body"
              onClick={() => (isNavOpen.value = !isNavOpen.peek())}
            />
          </span>
        </div>
        <div class="side-body" id="side-body">
          <button type="button" class="goto" onClick={() => (isPaletteOpen.value = true)}>
            <Icon name="search" />
            <span>Go to…</span>
            <kbd>{isMac ? "⌘K" : "Ctrl K"}</kbd>
          </button>
          <nav aria-label="Main">
            <ul>
              {places.map((place) => (
                <NavLink key={place.to} place={place} />
              ))}
            </ul>
            <h2 class="side-title" id="nav-settings">
              Settings
            </h2>
            <ul aria-labelledby="nav-settings">
              {settings.map((place) => (
                <NavLink key={place.to} place={place} />
              ))}
            </ul>
          </nav>
          <div class="side-foot">
            <UploadNote />
            <AccountMenu session={session} onKeys={() => (isHelpOpen.value = true)} />
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <CurrentPage />
      </main>
      {isDrawerOpen.value && (
        <Lazy load={() => import("../components/code-drawer.tsx").then((m) => m.CodeDrawer)} />
      )}
      {isPaletteOpen.value && (
        <Lazy
          load={() => import("./palette.tsx").then((m) => m.Palette)}
          onClose={() => (isPaletteOpen.value = false)}
        />
      )}
      {isHelpOpen.value && (
        <Lazy
          load={() => import("./keyboard-help.tsx").then((m) => m.KeyboardHelp)}
          onClose={() => (isHelpOpen.value = false)}
        />
      )}
    </div>
  );
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

function NavLink({ place }: { place: Place }) {
  useShortcut(place.keys, `Go to ${place.label}`, () => navigate(place.to));
  const isHere = place.to === "/" ? path.value === "/" : `${path.value}/`.startsWith(`${place.to}/`);
  return (
    <li>
      <a
        href={href(place.to)}
        aria-current={isHere ? (path.value === place.to ? "page" : "true") : undefined}
      >
        <Icon name={place.icon} />
        <span>{place.label}</span>
      </a>
    </li>
  );
}

/** Uploads go on while other pages are open: this leads back to them. */
function UploadNote() {
  const { datasetId, active, failed } = uploadSummary.value;
  if (datasetId === undefined || active + failed === 0) return null;
  return (
    <a class="upload-note" href={href(`/datasets/${datasetId}/upload`)}>
      <Icon name={active > 0 ? "upload" : "warning"} />
      <span>{active > 0 ? `Uploading ${active}` : `${failed} failed`}</span>
    </a>
  );
}

type Closable = { onClose?: () => void };

/** A part of the shell that is loaded when it is first used. */
function Lazy({ load, onClose }: { load: () => Promise<ComponentType<{ onClose: () => void }>> } & Closable) {
  const [Part, setPart] = useState<ComponentType<{ onClose: () => void }>>();
  useEffect(() => {
    load().then(
      (part) => setPart(() => part),
      () => onClose?.(),
    );
  }, []);
  return Part === undefined ? null : <Part onClose={onClose ?? (() => {})} />;
}
