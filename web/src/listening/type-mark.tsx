// The mark of an artifact type: a colour with a shape of its own, because colour alone is no sign.
const shapes = [
  "M2 2h8v8H2z",
  "M6 1l5 9.5H1z",
  "M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1Z",
  "M6 .5 11.5 6 6 11.5.5 6z",
  "M1 1.5h10L6 11z",
  "M4 1h4v3h3v4H8v3H4V8H1V4h3z",
];

export const TypeMark = ({ n }: { n: number }) => (
  <svg
    width="12"
    height="12"
    viewBox="0 0 12 12"
    aria-hidden="true"
    class={`type-mark mark-${(Math.max(0, n) % shapes.length) + 1}`}
  >
    <path d={shapes[Math.max(0, n) % shapes.length]} />
  </svg>
);
