/** Runs the built bins like a person or a client, in a scratch project with its own home. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export const DIST = join(import.meta.dirname, "../packages/haversack/dist");
const BIN = join(DIST, "haversack.cjs");

export interface Scratch {
  root: string;
  home: string;
  /** Writes a file of the project and creates its folders. */
  write(path: string, text: string): string;
  haversack(words: string[], options?: RunOptions): Ran;
  hook(payload: unknown, options?: RunOptions): Ran;
}

export interface RunOptions {
  stdin?: string;
  env?: Record<string, string>;
  cwd?: string;
  node?: string;
  /** The hook's client. Default: claude-code. */
  client?: string;
  /** The folder of the hook's files. Default: as built. */
  dist?: string;
}

export interface Ran {
  code: number | null;
  out: string;
  err: string;
  /** Standard output as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  json(): any;
}

/** `atEnd`: registers the cleanup, if it should run later than at the end of this test. */
export function scratchProject(atEnd: (remove: () => void) => void = onTestFinished): Scratch {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-test-")));
  atEnd(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "project");
  const home = join(base, "home");
  mkdirSync(join(root, ".git"), { recursive: true });
  mkdirSync(home);
  const run = (args: string[], { stdin = "", env = {}, cwd = root, node = process.execPath }: RunOptions = {}) =>
    ran(
      spawnSync(node, args, {
        cwd,
        input: stdin,
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", HOME: home, XDG_CONFIG_HOME: join(home, ".config"), ...env },
      }),
    );
  return {
    root,
    home,
    write(path, text) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    haversack: (words, options) => run([BIN, ...words], options),
    hook: (payload, options) =>
      run([join(options?.dist ?? DIST, "hook.cjs"), options?.client ?? "claude-code"], {
        stdin: typeof payload === "string" ? payload : JSON.stringify(payload),
        ...options,
      }),
  };
}

function ran({ status, stdout, stderr }: SpawnSyncReturns<string>): Ran {
  return { code: status, out: stdout, err: stderr, json: () => JSON.parse(stdout) };
}
