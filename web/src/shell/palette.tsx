// "Go to…": pages and datasets by a few letters (ARIA authoring practices, "combobox" with a list).
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { api, body } from "../app/api.ts";
import { navigate } from "../app/router.ts";
import { Dialog } from "../components/dialog.tsx";
import { Icon, type IconName } from "../components/icon.tsx";

interface Goal {
  readonly to: string;
  readonly label: string;
  readonly note: string;
  readonly icon: IconName;
}

const pages: readonly Goal[] = [
  { to: "/", label: "Overview", note: "Page", icon: "overview" },
  { to: "/datasets", label: "Datasets", note: "Page", icon: "datasets" },
  { to: "/datasets?new=1", label: "Create a dataset", note: "Action", icon: "plus" },
  { to: "/training", label: "Training", note: "Page", icon: "training" },
  { to: "/training/new", label: "Train a model", note: "Action", icon: "plus" },
  { to: "/models", label: "Models", note: "Page", icon: "model" },
  { to: "/models/compare", label: "Compare two models", note: "Page", icon: "layers" },
  { to: "/inference", label: "Inference", note: "Page", icon: "inference" },
  { to: "/inference/new", label: "Find artifacts in recordings", note: "Action", icon: "plus" },
  { to: "/settings/api-keys", label: "API Keys", note: "Settings", icon: "key" },
  { to: "/settings/api-keys?new=1", label: "Create an API key", note: "Action", icon: "plus" },
  { to: "/settings/webhooks", label: "Webhooks", note: "Settings", icon: "webhook" },
  { to: "/settings/usage", label: "Usage", note: "Settings", icon: "usage" },
  { to: "/components", label: "Components", note: "The parts of the dashboard", icon: "parts" },
];

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [datasets, setDatasets] = useState<readonly Goal[]>([]);
  const list = useId();
  const options = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isOld = false;
    const timer = setTimeout(async () => {
      const query = { page_size: 8, ...(text === "" ? {} : { name: text }) };
      const found = await body(api.GET("/api/v1/datasets", { params: { query } })).catch(() => undefined);
      if (isOld || found === undefined) return;
      setDatasets(
        found.items.map(({ id, name }) => ({
          to: `/datasets/${id}`,
          label: name,
          note: "Dataset",
          icon: "audio",
        })),
      );
    }, 150);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text]);
  const goals = [
    ...pages.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase())),
    ...datasets.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase())),
  ];
  const chosen = Math.min(at, goals.length - 1);
  useEffect(() => {
    options.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const go = (goal: Goal | undefined) => {
    if (goal === undefined) return;
    onClose();
    navigate(goal.to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (event.key === "Enter") go(goals[chosen]);
    else if (to !== undefined) setAt((to + goals.length) % Math.max(1, goals.length));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <div class="palette">
        <input
          class="input"
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={goals.length > 0 ? `${list}-${chosen}` : undefined}
          aria-autocomplete="list"
          aria-label="Page or dataset"
          placeholder="Page or dataset"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <div id={list} role="listbox" aria-label="Results" ref={options} class="palette-list">
          {goals.map((goal, i) => (
            // biome-ignore lint/a11y: the input keeps the focus and handles the keys.
            <div
              key={goal.to}
              id={`${list}-${i}`}
              role="option"
              aria-selected={i === chosen}
              onClick={() => go(goal)}
            >
              <Icon name={goal.icon} />
              <span class="clip">{goal.label}</span>
              <span class="faint small">{goal.note}</span>
            </div>
          ))}
        </div>
        {goals.length === 0 && <p class="muted small">Nothing has this name.</p>}
      </div>
    </Dialog>
  );
}
