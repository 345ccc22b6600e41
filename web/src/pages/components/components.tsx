// Every component of the dashboard in its states, for whoever changes one. The colours are those of the chosen theme; the
// second half of the page is in the other one.
import "./components.css";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Chart } from "../../chart/chart.tsx";
import { Badge, Tag } from "../../components/badge.tsx";
import { Button, IconButton } from "../../components/button.tsx";
import { Code } from "../../components/code.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Checkbox, SearchField, Select, TextArea, TextField } from "../../components/field.tsx";
import { Icon, type IconName, iconNames } from "../../components/icon.tsx";
import { Menu } from "../../components/menu.tsx";
import { Meter, Progress } from "../../components/meter.tsx";
import { Slider } from "../../components/slider.tsx";
import { Empty, Loading, Problem } from "../../components/states.tsx";
import { type Column, Table, useSort } from "../../components/table.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Ago } from "../../components/time.tsx";
import { notify } from "../../components/toast.tsx";
import { Page } from "../../shell/page.tsx";

export default function Components() {
  return (
    <Page title="Components" note="The parts that pages are made of, in both themes.">
      <div class="themes-page">
        {(["light", "dark"] as const).map((theme) => (
          <div class="theme-sample" data-sample={theme} key={theme}>
            <Samples theme={theme} />
          </div>
        ))}
      </div>
    </Page>
  );
}

function Samples({ theme }: { theme: string }) {
  return (
    <div class="stack-wide">
      <Part title="Buttons">
        <div class="row">
          <Button kind="primary" icon="plus">
            Create dataset
          </Button>
          <Button>Secondary</Button>
          <Button kind="quiet">Quiet</Button>
          <Button kind="danger">Delete</Button>
        </div>
        <div class="row">
          <Button kind="primary" isBusy>
            Saving
          </Button>
          <Button blocked="The key has no scope “write”">Not allowed</Button>
          <Button isSmall icon="retry">
            Small
          </Button>
          <IconButton icon="trash" label="Delete" />
          <Menu
            label="Actions"
            actions={[
              { label: "Edit", icon: "edit", run: () => {} },
              { label: "Delete", icon: "trash", isDanger: true, run: () => {} },
            ]}
          />
        </div>
      </Part>
      <Part title="Fields">
        <Fields />
      </Part>
      <Part title="Badges and tags">
        <div class="row">
          <Badge tone="good">Ready</Badge>
          <Badge tone="busy">Running</Badge>
          <Badge tone="warn">Cancelling</Badge>
          <Badge tone="bad">Failed</Badge>
          <Badge tone="quiet">Draft</Badge>
          <Badge tone="accent">This session</Badge>
          <Tag>click</Tag>
          <Tag>mouth noise</Tag>
        </div>
      </Part>
      <Part title="Meters and progress">
        <Meter label="Usable audio" value={200} max={300} text="200 of 300" />
        <Meter label="Enough audio" value={300} max={300} text="300 of 300" tone="good" />
        <Meter label="Nearly used up" value={270} max={300} text="270 of 300" tone="warn" />
        <Progress label="Upload" share={0.4} />
        <Progress label="Working" share={undefined} />
      </Part>
      <Part title="Chart">
        <Chart
          group={{
            title: "Loss",
            series: [
              { name: "Training loss", points: sampleCurve(0.9) },
              { name: "Validation loss", points: sampleCurve(1.1) },
            ],
          }}
        />
      </Part>
      <Part title="Table">
        <SampleTable />
      </Part>
      <Part title="Tabs">
        <SampleTabs />
      </Part>
      <Part title="Code and ids">
        <CopyId id="0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11" />
        <Code text={"curl -H \"X-API-Key: $API_KEY\" \\\n  'https://plosive.example.com/api/v1/datasets'"} />
      </Part>
      <Part title="States">
        <Loading what="the sample" lines={3} />
        <Empty title="No datasets yet" actions={<Button kind="primary">Create dataset</Button>}>
          <p>A dataset holds recordings.</p>
        </Empty>
        <Problem attempted="Loading the datasets" error={new TypeError("no network")} onRetry={() => {}} />
        <div class="notice warn">
          <Icon name="warning" />
          <p>You are signed in with this key.</p>
        </div>
      </Part>
      <Part title="Dialog and messages">
        <SampleDialog />
        <div class="row">
          <Button onClick={() => notify("Saved the artifact types")}>Good news</Button>
          <Button onClick={() => notify("Saving failed: the service did not respond", { tone: "bad" })}>
            Bad news
          </Button>
        </div>
      </Part>
      <Part title="Icons">
        <div class="row icons-sample">
          {iconNames.map((name: IconName) => (
            <span key={`${theme}${name}`} title={name}>
              <Icon name={name} />
            </span>
          ))}
        </div>
      </Part>
    </div>
  );
}

const sampleCurve = (first: number) =>
  Array.from({ length: 20 }, (_, i) => [i + 1, first / (1 + i / 4)] as const);

const Part = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="stack">
    <h2>{title}</h2>
    {children}
  </section>
);

function Fields() {
  const [text, setText] = useState("Studio takes");
  const [isChecked, setChecked] = useState(true);
  const [confidence, setConfidence] = useState(0.6);
  return (
    <div class="stack">
      <TextField
        label="Name"
        value={text}
        onValue={setText}
        hint="For people; it does not have to be unique."
      />
      <TextField
        label="Artifact type"
        value="click!"
        onValue={() => {}}
        fault="“click!” has a character that is not allowed."
      />
      <Select label="Status" value="ready" onValue={() => {}}>
        <option value="ready">Ready</option>
        <option value="failed">Failed</option>
      </Select>
      <TextArea label="Description" isOptional value="" onValue={() => {}} rows={2} />
      <SearchField label="Search by name" value="" onValue={() => {}} />
      <Checkbox
        label="Write"
        hint="Create, change, delete and run"
        isChecked={isChecked}
        onValue={setChecked}
      />
      <Slider
        label="Lowest confidence"
        value={confidence}
        min={0}
        max={1}
        step={0.01}
        text={confidence.toFixed(2)}
        onValue={setConfidence}
      />
    </div>
  );
}

interface Sample {
  readonly name: string;
  readonly files: number;
  readonly created: string;
}

const samples: readonly Sample[] = [
  { name: "Audiobook, spring", files: 128, created: "2026-11-20T09:30:00Z" },
  { name: "Podcast takes", files: 12, created: "2026-11-23T17:05:00Z" },
  { name: "Call centre", files: 4096, created: "2026-10-02T08:00:00Z" },
];

const columns: readonly Column<Sample>[] = [
  {
    id: "name",
    header: "Name",
    by: ({ name }) => name,
    cell: ({ name }) => <span class="strong">{name}</span>,
    isFlexible: true,
  },
  {
    id: "files",
    header: "Files",
    isNumber: true,
    by: ({ files }) => files,
    cell: ({ files }) => files.toLocaleString(),
  },
  {
    id: "created",
    header: "Created",
    by: ({ created }) => created,
    cell: ({ created }) => <Ago time={created} />,
  },
];

function SampleTable() {
  const sort = useSort(["name", "files", "created"], { column: "name", isDescending: false });
  return <Table caption="Sample" columns={columns} rows={samples} keyOf={({ name }) => name} sort={sort} />;
}

function SampleTabs() {
  const [tab, setTab] = useState<"audio" | "types">("audio");
  return (
    <Tabs
      label="Sample"
      current={tab}
      onSelect={setTab}
      tabs={[
        { id: "audio", label: "Audio", note: "128" },
        { id: "types", label: "Artifact types", note: "3" },
      ]}
    >
      <p class="muted small">Arrow keys move between the tabs.</p>
    </Tabs>
  );
}

function SampleDialog() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Open a dialog</Button>
      {isOpen && (
        <Dialog
          title="Delete the dataset"
          onClose={() => setOpen(false)}
          footer={
            <>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button kind="danger" onClick={() => setOpen(false)}>
                Delete dataset
              </Button>
            </>
          }
        >
          <p>This cannot be undone.</p>
        </Dialog>
      )}
    </>
  );
}
