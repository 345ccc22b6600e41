// vitest's setup file in mutation testing: switches one mutant on before a test file is loaded, also for the processes that
// it starts, and reports which mutants the file reached. Called by vitest (runner.ts).
import { appendFileSync } from "node:fs";
import { afterAll, inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Stryker's number of the mutant; empty: none. */
    activeMutant: string;
    /** Where to write the numbers of the mutants that were reached. */
    reachedFile: string;
  }
}

interface Switches {
  mutantCoverage?: { static: Record<string, number> };
  hitCount?: number;
  hitLimit?: number;
}

const switches: Switches = {};
Object.assign(globalThis, { __stryker__: switches });
const active = inject("activeMutant");
if (active !== "") {
  process.env.__STRYKER_ACTIVE_MUTANT__ = active;
  // A loop that no longer ends throws.
  Object.assign(switches, { hitCount: 0, hitLimit: 1_000_000 });
}

const reachedFile = inject("reachedFile");
if (reachedFile !== "")
  afterAll(() => {
    appendFileSync(reachedFile, `${Object.keys(switches.mutantCoverage?.static ?? {}).join(" ")}\n`);
  });
