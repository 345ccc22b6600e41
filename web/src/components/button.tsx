// Buttons, and links that look like buttons.
import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";

type Kind = "primary" | "secondary" | "quiet" | "danger";

interface Look {
  readonly kind?: Kind;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
  readonly isSmall?: boolean;
}

const classOf = ({ kind = "secondary", isSmall }: Look) => `button ${kind}${isSmall ? " small-button" : ""}`;

export type ButtonProps = Look &
  Omit<JSX.IntrinsicElements["button"], "icon" | "class"> & {
    /** Work is going on: the button stays in its place, keeps the focus and does nothing. */
    readonly isBusy?: boolean;
    /** Why the button cannot be used now. It stays focusable, and says why. */
    readonly blocked?: string | undefined;
  };

export function Button({ kind, icon, children, isSmall, isBusy, blocked, onClick, ...rest }: ButtonProps) {
  const isOff = isBusy === true || blocked !== undefined;
  return (
    <button
      type="button"
      {...rest}
      class={classOf({ kind, isSmall })}
      aria-disabled={isOff ? "true" : undefined}
      aria-busy={isBusy ? "true" : undefined}
      title={blocked ?? rest.title}
      onClick={isOff ? (event) => event.preventDefault() : onClick}
    >
      {isBusy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
      {blocked !== undefined && <span class="visually-hidden">({blocked})</span>}
    </button>
  );
}

export function IconButton({
  icon,
  label,
  isSmall,
  ...rest
}: Omit<ButtonProps, "children" | "kind"> & { icon: IconName; label: string }) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      class={`icon-button${isSmall ? " small-button" : ""}`}
      aria-label={label}
    >
      <Icon name={icon} />
    </button>
  );
}

export function ButtonLink({ kind, icon, children, isSmall, href }: Look & { readonly href: string }) {
  return (
    <a href={href} class={classOf({ kind, isSmall })}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  );
}
