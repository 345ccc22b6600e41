// Light, dark, or as the system has it. tokens.css has both values of each colour.
import { effect, signal } from "@preact/signals";
import { keep, recall } from "./kept.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const kept = recall("theme");
export const theme = signal<Theme>(themes.find((name) => name === kept) ?? "system");

export function startTheme(): void {
  effect(() => {
    const { dataset } = document.documentElement;
    if (theme.value === "system") delete dataset.theme;
    else dataset.theme = theme.value;
    keep("theme", theme.value === "system" ? null : theme.value);
  });
}
