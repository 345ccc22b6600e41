// Who is signed in, with which key or role, and until when; the colours; sign out.

import { liveness } from "../app/live.ts";
import { signInUrl } from "../app/provider.ts";
import type { Session } from "../app/session.ts";
import { signOut } from "../app/session.ts";
import { type Theme, theme, themes } from "../app/theme.ts";
import { Icon, type IconName } from "../components/icon.tsx";
import { Menu } from "../components/menu.tsx";
import { Ago } from "../components/time.tsx";
import { notify } from "../components/toast.tsx";

const themeNames: Record<Theme, [string, IconName]> = {
  system: ["As the system", "system"],
  light: ["Light", "sun"],
  dark: ["Dark", "moon"],
};

export function AccountMenu({ session, onKeys }: { session: Session; onKeys: () => void }) {
  const leave = () => {
    signOut().catch(() =>
      notify("Signing out failed: the service did not respond. Try again.", { tone: "bad" }),
    );
  };
  return (
    <div class="account">
      <Menu
        label="Account"
        className="account-button"
        actions={[
          { label: "Keyboard shortcuts", icon: "keyboard", run: onKeys },
          ...(session.accounts ?? []).map(({ id, name }) => ({
            label: `Switch to ${name}`,
            icon: "right" as const,
            run: () => window.location.assign(signInUrl(id)),
          })),
          { label: "Sign out", icon: "out", run: leave },
        ]}
      >
        <span class="account-names">
          <span class="clip strong">{session.tenant_name}</span>
          <span class="clip tiny faint">
            {session.user_name ?? session.key_name} ·{" "}
            {session.role ?? <span class="mono">{session.key_prefix}…</span>}
          </span>
        </span>
        <Icon name="both" size={14} />
      </Menu>
      {session.key_expires_at !== null && isSoon(session.key_expires_at) && (
        <p class="tiny key-note">
          This key expires <Ago time={session.key_expires_at} />.
        </p>
      )}
      <div class="account-row">
        <Live />
        <fieldset class="themes">
          <legend class="visually-hidden">Colours</legend>
          {themes.map((name) => (
            <label key={name} title={themeNames[name][0]}>
              <input
                type="radio"
                name="theme"
                class="visually-hidden"
                checked={theme.value === name}
                onChange={() => (theme.value = name)}
              />
              <Icon name={themeNames[name][1]} size={14} />
              <span class="visually-hidden">{themeNames[name][0]}</span>
            </label>
          ))}
        </fieldset>
      </div>
    </div>
  );
}

const isSoon = (time: string) => Date.parse(time) - Date.now() < 14 * 86_400_000;

const words = {
  live: ["Live", "Changes appear by themselves"],
  connecting: ["Connecting", "Changes will appear by themselves"],
  paused: ["Paused", "The connection to the service is interrupted; what you see may be old"],
} as const;

function Live() {
  const [word, title] = words[liveness.value];
  return (
    <span class={`live ${liveness.value}`} title={title} role="status">
      <span class="live-dot" aria-hidden="true" />
      {word}
    </span>
  );
}
