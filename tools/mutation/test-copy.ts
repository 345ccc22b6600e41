// A copy of the repository with all mutants of a folder behind switches, and the process that runs tests in it (runner.ts).
// A mutant that hangs costs the process, not the copy. Called by main.ts and survey.ts.
import { type ChildProcess, fork } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { repoDir } from "../cache.ts";
import { repositoryFiles } from "../testing/imports.ts";
import { commitSeed } from "../testing/seed.ts";
import type { Answer, Order } from "./runner.ts";

export class TestCopy {
  readonly #root: string;
  readonly #projects: readonly string[];
  readonly #instrumented: ReadonlyMap<string, string>;
  #child: ChildProcess | undefined;

  constructor(projects: readonly string[], instrumented: ReadonlyMap<string, string>) {
    this.#root = mkdtempSync(join(tmpdir(), "plosive-mutation-"));
    // Postgres runs as a user of its own, and some tests give it programs of the repository.
    chmodSync(this.#root, 0o755);
    this.#projects = projects;
    this.#instrumented = instrumented;
    for (const file of repositoryFiles()) {
      mkdirSync(dirname(join(this.#root, file)), { recursive: true });
      cpSync(join(repoDir, file), join(this.#root, file));
    }
    for (const file of instrumented.keys()) this.#restore(file);
    symlinkSync(join(repoDir, "node_modules"), join(this.#root, "node_modules"));
  }

  /** Runs the tests of an order. Undefined: they did not end within `limitSeconds`. */
  async run(order: Order, limitSeconds: number): Promise<Answer[] | undefined> {
    const child = this.#child ?? (await this.#start());
    const { promise, resolve } = Promise.withResolvers<Answer[] | undefined>();
    const lose = () => resolve(undefined);
    const timer = setTimeout(lose, limitSeconds * 1000);
    child.once("message", (answers: Answer[]) => resolve(answers));
    child.once("exit", lose);
    child.send(order);
    const answers = await promise;
    clearTimeout(timer);
    child.removeListener("exit", lose);
    if (answers !== undefined) return answers;
    this.#end();
    if (order.replace !== undefined) this.#restore(order.replace.file);
    return undefined;
  }

  close(): void {
    this.#end();
    rmSync(this.#root, { recursive: true, force: true });
  }

  #restore(file: string): void {
    writeFileSync(join(this.#root, file), this.#instrumented.get(file) ?? "");
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(join(this.#root, "tools/mutation/runner.ts"), [this.#root, this.#projects.join(",")], {
      cwd: this.#root,
      // A process group of its own, so that a hanging worker ends with it.
      detached: true,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      // The copy is no git checkout, and the seed of random trials must be the same for all mutants.
      env: { ...process.env, PLOSIVE_TEST_SEED: process.env.PLOSIVE_TEST_SEED ?? String(commitSeed()) },
    });
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
    child.once("message", () => resolve(child));
    child.once("exit", () =>
      reject(new Error("The process of the tests did not start; its errors are above.")),
    );
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    return promise;
  }

  #end(): void {
    const { pid } = this.#child ?? {};
    this.#child = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
