// Whether the drawer "API calls" is open. A file of its own, so that the drawer itself is loaded only when it is used.
import { signal } from "@preact/signals";

export const isDrawerOpen = signal(false);
