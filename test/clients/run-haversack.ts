/** Runs the built CLI: at once, or while a scripted server of this process answers the client that it starts. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { quoted, type Scratch } from "./scratch.ts";

const BIN = join(import.meta.dirname, "../../packages/haversack/dist/haversack.cjs");

export interface HaversackRun {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface HaversackCall {
  cwd: string;
  env: Record<string, string>;
  /** The process is killed after this. Default 60,000. */
  timeLimitMs?: number;
}

/** In a repository, and nothing else meanwhile; anything but exit 0 is a fault of the test. */
export function haversack({ root, env }: Pick<Scratch, "root" | "env">, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd: root,
    env: { PATH: process.env["PATH"], ...env },
    encoding: "utf8",
    timeout: 30_000,
  });
  if (status !== 0) throw new Error(`haversack ${args.join(" ")}: exit ${status}\n${stdout}\n${stderr}`);
  return stdout;
}

export async function runHaversack(
  words: readonly string[],
  { cwd, env, timeLimitMs = 60_000 }: HaversackCall,
): Promise<HaversackRun> {
  const child = spawn(process.execPath, [BIN, ...words], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  // What it started ends with it: a request to end is passed on.
  const limit = setTimeout(() => child.kill("SIGTERM"), timeLimitMs);
  const exitCode = await new Promise<number | null>((resolve, reject) =>
    child.on("error", reject).on("close", resolve),
  );
  clearTimeout(limit);
  return { exitCode, stdout, stderr };
}

/** A folder for the PATH with one program in it, which is another file's name for the installed one. */
export function onPath(base: string, name: string, command: readonly string[]): string {
  const folder = join(base, "bin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\nexec ${command.map(quoted).join(" ")} "$@"\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}
