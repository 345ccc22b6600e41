// A button with a menu of actions (ARIA authoring practices, "menu button"). The popover closes on Escape and on a click
// elsewhere, and no scrolling container cuts it off.
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";

export interface Action {
  readonly label: string;
  readonly icon?: IconName;
  readonly run: () => void;
  readonly isDanger?: boolean;
  /** Why the action is not possible now. */
  readonly blocked?: string | undefined;
}

export function Menu({
  label,
  actions,
  children,
  className = "icon-button",
}: {
  label: string;
  actions: readonly (Action | undefined)[];
  /** What the button shows; three dots by default. */
  children?: ComponentChildren;
  className?: string;
}) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const items = () => [...(menu.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  const place = (event: { readonly newState: string }) => {
    const [anchor, box] = [button.current, menu.current];
    if (anchor === null || box === null) return;
    const isOpen = event.newState === "open";
    anchor.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return;
    const { left, right, top, bottom } = anchor.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = box;
    const x = left + width > window.innerWidth - 8 ? right - width : left;
    const y = bottom + 4 + height > window.innerHeight - 8 ? top - height - 4 : bottom + 4;
    box.style.left = `${Math.max(8, x)}px`;
    box.style.top = `${Math.max(8, y)}px`;
    items()[0]?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Tab") menu.current?.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={className}
        popovertarget={id}
        aria-haspopup="menu"
        aria-expanded="false"
        aria-label={children === undefined ? label : undefined}
        title={children === undefined ? label : undefined}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          menu.current?.showPopover();
        }}
      >
        {children ?? <Icon name="more" />}
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        class="menu"
        onToggle={place}
        onKeyDown={move}
      >
        {actions.map(
          (action) =>
            action && (
              <button
                key={action.label}
                type="button"
                role="menuitem"
                tabIndex={-1}
                class={action.isDanger ? "bad" : undefined}
                aria-disabled={action.blocked === undefined ? undefined : "true"}
                title={action.blocked}
                onClick={() => {
                  if (action.blocked !== undefined) return;
                  menu.current?.hidePopover();
                  button.current?.focus();
                  action.run();
                }}
              >
                {action.icon && <Icon name={action.icon} />}
                <span>{action.label}</span>
              </button>
            ),
        )}
      </div>
    </>
  );
}
