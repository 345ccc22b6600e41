// The files of a queue with their progress. Each row follows its own file, so that a hundred progressing files do not draw
// the list anew.
import { useComputed } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { bytes, count, plural } from "../../app/format.ts";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Button, IconButton } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Meter, Progress } from "../../components/meter.tsx";
import { type Item, isActive, type Phase, type Queue } from "../../uploads/queue.ts";

const words: Record<Phase, [Tone, string]> = {
  waiting: ["quiet", "Waiting"],
  reading: ["busy", "Reading"],
  ready: ["quiet", "Next"],
  sending: ["busy", "Uploading"],
  checking: ["busy", "Checking"],
  pausing: ["warn", "Trying again"],
  done: ["good", "Uploaded"],
  failed: ["bad", "Failed"],
  removed: ["quiet", "Removed"],
};

const portion = 20;

export function UploadList({ queue }: { queue: Queue }) {
  const items = queue.items.value;
  const stopped = queue.stopped.value;
  // Hundreds of rows at once would hold up the page: they come in portions.
  const [most, setMost] = useState(portion);
  const isCut = items.length > most;
  useEffect(() => {
    if (!isCut) return;
    const timer = setTimeout(() => setMost(most + portion), 60);
    return () => clearTimeout(timer);
  }, [isCut, most]);
  if (items.length === 0) return null;
  return (
    <section aria-labelledby="uploads">
      <Summary queue={queue} />
      {stopped !== undefined && (
        <div class="notice warn" role="alert">
          <Icon name="pause" />
          <p class="break">{stopped}</p>
          <Button isSmall icon="retry" onClick={() => queue.resume()}>
            Continue
          </Button>
        </div>
      )}
      <ul class="uploads">
        {items.slice(0, most).map((item) => (
          <Row key={item.key} item={item} queue={queue} />
        ))}
      </ul>
    </section>
  );
}

function Summary({ queue }: { queue: Queue }) {
  const sums = useComputed(() => {
    let [done, failed, active, sent, total] = [0, 0, 0, 0, 0];
    for (const { phase, sentBytes, source } of queue.items.value) {
      if (phase.value === "done") done++;
      else if (phase.value === "failed") failed++;
      else if (isActive(phase.value)) active++;
      total += source.size;
      sent += phase.value === "done" ? source.size : sentBytes.value;
    }
    return { done, failed, active, sent, total };
  }).value;
  const { done, failed, active, sent, total } = sums;
  const failures = queue.items.peek().filter((item) => item.phase.peek() === "failed" && item.canRetry);
  return (
    <div class="upload-summary">
      <div class="row apart">
        <h2 id="uploads">
          {active > 0
            ? `Uploading ${plural(active, "file")}`
            : failed > 0
              ? `${plural(failed, "file")} failed`
              : "All files are uploaded"}
        </h2>
        <span class="number small muted">
          {count(done)} of {plural(queue.items.value.length, "file")} · {bytes(sent)} of {bytes(total)}
        </span>
      </div>
      <Meter
        label="All uploads"
        value={sent}
        max={total}
        text={`${done} of ${plural(queue.items.value.length, "file")}`}
        tone={active === 0 && failed === 0 ? "good" : "accent"}
      />
      <p class="visually-hidden" role="status">
        {active === 0 && (failed > 0 ? `${plural(failed, "file")} failed` : "All files are uploaded")}
      </p>
      <div class="row">
        {failures.length > 0 && (
          <Button isSmall icon="retry" onClick={() => queue.retry(failures)}>
            {failures.length === 1
              ? "Try the failed file again"
              : `Try the ${count(failures.length)} failed files again`}
          </Button>
        )}
        {done > 0 && (
          <Button isSmall onClick={() => queue.clearDone()}>
            Clear the finished
          </Button>
        )}
        {active === 0 && failed === 0 && (
          <span class="small muted">
            The service decodes and embeds them now. The dataset shows when they are ready.
          </span>
        )}
      </div>
    </div>
  );
}

function Row({ item, queue }: { item: Item; queue: Queue }) {
  const phase = item.phase.value;
  const reason = item.reason.value;
  const [tone, word] = words[phase];
  const { path, size } = item.source;
  const sent = item.sentBytes.value;
  const percent = size === 0 ? 0 : Math.floor((sent / size) * 100);
  return (
    <li class={`upload ${phase}`}>
      <span class="upload-name">
        <span class="break">{path}</span>
        {reason !== undefined && (
          <span class={`small break ${phase === "failed" ? "bad-text" : "muted"}`}>{reason}</span>
        )}
      </span>
      <span class="upload-progress">
        {phase === "sending" ? (
          <>
            <Progress label={`Upload of ${path}`} share={sent / size} text={`${percent} %`} />
            <span class="number tiny muted">{percent} %</span>
          </>
        ) : (
          <Badge tone={tone}>{word}</Badge>
        )}
      </span>
      <span class="number small muted upload-size">{bytes(size)}</span>
      <span class="upload-tools">
        {phase === "failed" && item.canRetry && (
          <IconButton isSmall icon="retry" label={`Try ${path} again`} onClick={() => queue.retry([item])} />
        )}
        <IconButton
          isSmall
          icon="close"
          label={phase === "done" ? `Take ${path} off this list` : `Cancel the upload of ${path}`}
          onClick={() => queue.remove(item)}
        />
      </span>
    </li>
  );
}
