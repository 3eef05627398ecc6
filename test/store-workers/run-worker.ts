/** Starts processes of a worker of this folder and collects what they print. */
import { type ChildProcess, spawn } from "node:child_process";
import { renameSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

export const workerFile = bundleWorker("store-worker.mjs");

/** Bundled, because node then starts in 37 ms instead of the 113 ms that stripping the types takes. */
export function bundleWorker(name: string): string {
  const outfile = fileURLToPath(new URL(`../../node_modules/.cache/haversack/${name}`, import.meta.url));
  const entry = fileURLToPath(new URL(name, import.meta.url));
  // Under another name first: two test files may bundle it at the same time.
  const part = `${outfile}.${process.pid}`;
  buildSync({ entryPoints: [entry], outfile: part, bundle: true, platform: "node", format: "esm", logLevel: "error" });
  renameSync(part, outfile);
  return outfile;
}

export interface WorkerOptions {
  /** Handed to openDatabase in the worker. */
  open?: { durability?: "full" | "normal"; busyMs?: number };
  [more: string]: unknown;
}

export interface WorkerResult {
  exitCode: number | null;
  /** Everything it printed, in one object; later lines win. */
  printed: Record<string, unknown>;
  stderr: string;
}

export interface Worker {
  child: ChildProcess;
  /** Fulfilled when the worker waits for `go`. */
  ready: Promise<void>;
  go: () => void;
  done: Promise<WorkerResult>;
}

/** `command` stands before node, such as ["sh", "-c", "ulimit …; exec \"$@\"", "sh"]. */
export function startWorker(verb: string, file: string, options: WorkerOptions = {}, command: string[] = []): Worker {
  const [program = "", ...args] = [...command, process.execPath, workerFile, verb, file, JSON.stringify(options)];
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const ready = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
      if (stdout.includes('"ready"')) resolve();
    });
    child.on("close", () => resolve());
  });
  const done = new Promise<WorkerResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => {
      const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
      resolve({ exitCode, printed: Object.assign({}, ...lines.map((line) => JSON.parse(line))), stderr });
    });
  });
  return { child, ready, go: () => child.stdin.end(), done };
}

/** For verbs that do not wait. */
export function runWorker(
  verb: string,
  file: string,
  options: WorkerOptions = {},
  command: string[] = [],
): Promise<WorkerResult> {
  const worker = startWorker(verb, file, options, command);
  worker.go();
  return worker.done;
}

/** Starts all of them, waits until each is loaded, and lets them go at the same moment. */
export async function runTogether(
  count: number,
  verb: string,
  file: string,
  options: WorkerOptions = {},
): Promise<WorkerResult[]> {
  const workers = Array.from({ length: count }, () => startWorker(verb, file, options));
  await Promise.all(workers.map(({ ready }) => ready));
  for (const { go } of workers) go();
  return Promise.all(workers.map(({ done }) => done));
}
