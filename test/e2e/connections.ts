// Tries connections from the network namespaces of pods, so that no pod needs a program for it. Called by network-policy.test.ts.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Target {
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

/** A refused packet may get an answer or none, so that a connection that is not there in time counts as refused. */
const timeoutMs = 3_000;
const connectAll = `
const targets = JSON.parse(process.argv[1]);
const reaches = ({ address, port }) => new Promise((resolve) => {
  const socket = require("node:net").connect({ host: address, port, timeout: ${timeoutMs} });
  for (const [event, outcome] of [["connect", true], ["error", false], ["timeout", false]])
    socket.once(event, () => { socket.destroy(); resolve(outcome); });
});
Promise.all(targets.map(reaches)).then((outcomes) => console.log(JSON.stringify(outcomes)));
`;
/** Ends with this process, whose pipe is its stdin. */
const listen = `process.stdin.resume().once("end", () => process.exit()); require("node:net").createServer((socket) => socket.end()).listen(Number(process.argv[2]), process.argv[1], () => console.log("listens"))`;

/** Runs a program in the network namespace of a process. */
const inNamespaceOf = (pid: number, program: string, ...args: string[]) =>
  ["nsenter", ["-t", String(pid), "-n", "--", program, ...args]] as const;

/** The names of the targets to which a connection opens. `pid`: a process of the pod, by its number on the host. */
export async function reachedFrom(pid: number, targets: readonly Target[]): Promise<string[]> {
  const argument = JSON.stringify(targets);
  const { stdout } = await run(...inNamespaceOf(pid, process.execPath, "-e", connectAll, argument));
  const outcomes = JSON.parse(stdout) as boolean[];
  return targets.filter((_, i) => outcomes[i]).map(({ name }) => name);
}

/** Listens at an address that the namespace gets for it. Returns the function that ends both. */
export async function listenAt(pid: number, address: string, port: number): Promise<() => Promise<void>> {
  const change = (verb: "replace" | "del") =>
    run(...inNamespaceOf(pid, "ip", "address", verb, `${address}/32`, "dev", "lo"));
  await change("replace");
  const child: ChildProcess = spawn(
    ...inNamespaceOf(pid, process.execPath, "-e", listen, address, String(port)),
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the listener at ${address} ended with code ${code}`)));
    child.stdout?.once("data", resolve);
  });
  return async () => {
    child.removeAllListeners("exit");
    child.kill();
    await change("del");
  };
}
