// Times: how long ago, with the exact time on hover and for programs. One clock moves all of them.
import { signal } from "@preact/signals";
import { ago, day, moment } from "../app/format.ts";

export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 15_000);
document.addEventListener("visibilitychange", () => {
  now.value = Date.now();
});

export const Ago = ({ time, isShort }: { time: string; isShort?: boolean }) => (
  <time dateTime={time} title={moment(time)} class="nowrap">
    {ago(time, now.value, undefined, isShort ? "narrow" : "long")}
  </time>
);

export const Day = ({ time }: { time: string }) => (
  <time dateTime={time} title={moment(time)} class="nowrap">
    {day(time)}
  </time>
);
