// The entry of the dashboard: starts what lives as long as the page, and shows the shell or the sign-in page.
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/fields.css";
import "./styles/overlays.css";
import "./styles/table.css";
import "./styles/content.css";
import "./styles/states.css";
import "./styles/side.css";
import "./styles/shell.css";
import { render } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { reasonOf } from "./app/api.ts";
import { startLive } from "./app/live.ts";
import { refusalOfAddress } from "./app/provider.ts";
import { navigate, startRouter } from "./app/router.ts";
import { followTabs, restore, type Session, signIn, state, tokenOfAddress } from "./app/session.ts";
import { startShortcuts } from "./app/shortcuts.ts";
import { startTheme } from "./app/theme.ts";
import { giveFocusBack } from "./components/focus.ts";
import { Loading } from "./components/states.tsx";
import { Toasts } from "./components/toast.tsx";
import { SignIn, Unreachable } from "./pages/sign-in/sign-in.tsx";
import { Shell } from "./shell/shell.tsx";

/** The session that the shell shows. It stays when the session ends, so that nothing that was entered is lost. */
let shown: Session | undefined;
/** What had the focus in the shell when the session ended. */
let left: Element | null | undefined;

function App() {
  const now = state.value;
  const isSignedIn = now.is === "signed-in";
  useLayoutEffect(
    () => () => {
      if (isSignedIn) left = document.activeElement;
    },
    [isSignedIn],
  );
  // Later than a dialog that opens again and takes the focus.
  useEffect(() => {
    if (isSignedIn && left !== undefined) giveFocusBack(left);
  }, [isSignedIn]);
  if (isSignedIn) shown = now.session;
  return (
    <>
      {now.is === "loading" && (
        <main class="alone">
          <Loading what="the dashboard" lines={3} />
        </main>
      )}
      {now.is === "unreachable" && <Unreachable error={now.error} />}
      {now.is === "signed-out" && <SignIn reason={now.reason} />}
      {shown !== undefined && (
        <div hidden={!isSignedIn}>
          <Shell session={shown} />
        </div>
      )}
      <Toasts />
    </>
  );
}

const linkFailure = (error: unknown) =>
  `The sign-in link did not work: ${reasonOf(error)}. You can also sign in with an API key.`;

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no element #app");
startTheme();
startRouter();
startShortcuts();
startLive();
followTabs();
render(<App />, root);

const token = tokenOfAddress();
const refusal = refusalOfAddress();
if (refusal !== undefined) {
  navigate("/", { replace: true });
  void restore().then(() => {
    if (state.peek().is === "signed-out") state.value = { is: "signed-out", reason: refusal };
  });
} else if (token === undefined) void restore();
else {
  navigate("/", { replace: true });
  signIn({ sign_in_token: token }).catch(async (error: unknown) => {
    // The link may have been opened a second time, with the session of the first.
    await restore();
    if (state.peek().is === "signed-out") state.value = { is: "signed-out", reason: linkFailure(error) };
  });
}
