// The icons: strokes on a 16 by 16 grid, in the colour of the text beside them. Always decoration; the name of a control
// is its text or label.

const paths = {
  overview: "M2.5 9.5h3l1.5-6 3 9 1.5-5h2",
  datasets:
    "M2.5 4.5c0-1.1 2.5-2 5.5-2s5.5.9 5.5 2-2.5 2-5.5 2-5.5-.9-5.5-2Zm0 0v7c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2v-7M2.5 8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2",
  key: "M10.3 9.2a3.3 3.3 0 1 0-3-3L2.5 11v2.5H5V12h1.5v-1.5H8l1.3-1.3M11 5h0",
  webhook:
    "M6.2 6.4a3 3 0 1 1 3.7-.8l2 3.4M5.9 9.6a3 3 0 1 0 1.4 3.2l3.9.1M12.1 9.1a2.2 2.2 0 1 1-1 3.9M8 4.4l-3 5.9",
  usage: "M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6",
  parts: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM11 9v4M9 11h4",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.3 10.3l3.2 3.2",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2.5 8h11M2.5 4.5v7M13.5 4.5v7M5 6 3 8l2 2M11 6l2 2-2 2",
  undo: "M5.5 3.5 2.5 6.5l3 3M2.5 6.5h6.2a4 4 0 0 1 0 8H6",
  redo: "M10.5 3.5l3 3-3 3M13.5 6.5H7.3a4 4 0 0 0 0 8H10",
  upload: "M8 10.5v-7M5 6l3-3 3 3M3 10.5v1c0 1.1.9 2 2 2h6a2 2 0 0 0 2-2v-1",
  more: "M3.5 8h0M8 8h0M12.5 8h0",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5l3.5 3.5L13 4.5",
  copy: "M6 5.5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1ZM3 10.5v-7c0-.6.4-1 1-1h6.5",
  code: "M5 4.5L1.5 8 5 11.5M11 4.5L14.5 8 11 11.5M9.3 3l-2.6 10",
  warning:
    "M8 6v3.2M8 11.6h0M7.1 2.8 1.7 12c-.4.7.1 1.5.9 1.5h10.8c.8 0 1.3-.8.9-1.5L8.9 2.8a1 1 0 0 0-1.8 0Z",
  error: "M8 4.8v3.9M8 11.2h0M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Z",
  info: "M8 7.4v3.8M8 4.9h0M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Z",
  clock: "M8 4.8V8l2.2 1.6M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Z",
  retry: "M13.2 6.5A5.5 5.5 0 1 0 13.5 9M13.5 3v3.5H10",
  trash: "M2.5 4h11M6 4V2.5h4V4M4 4l.6 9c0 .3.3.5.6.5h5.6c.3 0 .6-.2.6-.5L12 4M6.6 6.8v4M9.4 6.8v4",
  edit: "M10.5 3.2l2.3 2.3L5.5 12.8l-3 .7.7-3zM9 4.7 11.3 7",
  folder: "M2.5 12V4c0-.6.4-1 1-1h3L8 4.8h4.5c.6 0 1 .4 1 1V12c0 .6-.4 1-1 1h-9a1 1 0 0 1-1-1Z",
  audio: "M2.5 8h0M5.2 6v4M8 3v10M10.8 5.5v5M13.5 7.2v1.6",
  left: "M10 3.5L5.5 8l4.5 4.5",
  right: "M6 3.5L10.5 8 6 12.5",
  up: "M4 9.5L8 5.5l4 4",
  down: "M4 6.5l4 4 4-4",
  both: "M5 6.2 8 3.2l3 3M5 9.8l3 3 3-3",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  keyboard: "M2 4.5h12v7H2zM4.5 7h0M7 7h0M9.5 7h0M12 7h0M5 9.2h6",
  sun: "M8 10.7a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13.3 9.6A5.6 5.6 0 0 1 6.4 2.7a5.6 5.6 0 1 0 6.9 6.9Z",
  system: "M2.5 3.5h11v7h-11zM6 13.5h4M8 10.5v3",
  out: "M6.5 2.5H4a1 1 0 0 0-1 1v9c0 .6.4 1 1 1h2.5M10.5 11 13.5 8l-3-3M13.5 8h-7",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.2v9.6L12.5 8z",
  send: "M13.5 2.5 7 9M13.5 2.5l-4 11L7 9 2.5 6.5z",
  tag: "M2.5 3.5v4.1c0 .3.1.5.3.7l5 5c.4.4 1 .4 1.4 0l4.1-4.1c.4-.4.4-1 0-1.4l-5-5a1 1 0 0 0-.7-.3H3.5a1 1 0 0 0-1 1ZM5.5 5.5h0",
  training: "M2.5 2.5v11h11M4.5 11c3.2 0 2.8-6.5 5-6.5 1.6 0 1.6 1.5 4 1.5",
  model: "M8 2.2 13 5v6l-5 2.8L3 11V5zM3 5l5 2.8L13 5M8 7.8v6",
  inference:
    "M2 8h.5M4.5 5.5v5M7 3v6M9.5 5v1.5M10.7 12.6a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6ZM12.4 12l1.6 1.6",
  layers: "M8 2.5 2.5 5.3 8 8l5.5-2.7zM2.5 8 8 10.8 13.5 8M2.5 10.7 8 13.5l5.5-2.8",
} as const;

export type IconName = keyof typeof paths;
export const iconNames = Object.keys(paths) as IconName[];

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" class="icon">
      <path d={paths[name]} />
    </svg>
  );
}

/** The mark: silence, then the burst of a plosive. */
export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" class="mark">
      <rect width="32" height="32" rx="8" />
      <path d="M6 16h0M10.5 16h0M15 6v20M19.5 10.5v11M24 13.5v5" />
    </svg>
  );
}
