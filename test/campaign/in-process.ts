/**
 * Runs hook.cjs inside this process, thousands of times in a second less than as processes: its own text, as built, with standard
 * input and output in memory, and its end as a return. The files beside it are loaded once. What a process would leave to the
 * system, the open store, is closed here.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import { DIST, type Project } from "./project.ts";

export interface Ran {
  exitCode: number | null;
  stdout: string;
  stderr: string;
  tookMs: number;
}

type Files = typeof import("node:fs");
type Sqlite = { DatabaseSync: new (...args: unknown[]) => { close(): void; isOpen: boolean } };

/** Takes over the environment, the working folder and parts of `fs` for as long as it is used: one at a time. */
export function hookInProcess(): {
  run(project: Project, client: string, input: Buffer, env?: Record<string, string>): Ran;
  end(): void;
} {
  const file = join(DIST, "hook.cjs");
  // The first line of the file ends the process on an old Node; everything is inside of one function.
  const code = readFileSync(file, "utf8");
  const main = new Script(`(function (exports, require, module, __filename, __dirname) {${code}\n})`, {
    filename: file,
  });
  const start = main.runInThisContext() as (...args: unknown[]) => void;
  const require = createRequire(file);
  const fs = process.getBuiltinModule("node:fs") as { -readonly [Key in keyof Files]: Files[Key] };
  const sqlite = process.getBuiltinModule("node:sqlite") as unknown as Sqlite;
  const real = { read: fs.readFileSync, write: fs.writeSync, Database: sqlite.DatabaseSync, env: { ...process.env } };
  const ends = process as unknown as { reallyExit(code: number): void };
  const { reallyExit } = ends;
  const { argv } = process;
  let now: {
    input: Buffer;
    stdout: string;
    stderr: string;
    exitCode: number | null;
    open: { close(): void; isOpen: boolean }[];
  };

  const patch = () => {
    fs.readFileSync = ((path: unknown, ...rest: unknown[]) =>
      path === 0
        ? now.input.toString("utf8")
        : Reflect.apply(real.read, fs, [path, ...rest])) as typeof fs.readFileSync;
    fs.writeSync = ((fd: number, text: unknown, ...rest: unknown[]) => {
      if (fd !== 1 && fd !== 2) return Reflect.apply(real.write, fs, [fd, text, ...rest]);
      if (fd === 1) now.stdout += String(text);
      else now.stderr += String(text);
      return Buffer.byteLength(String(text));
    }) as typeof fs.writeSync;
    sqlite.DatabaseSync = class extends real.Database {
      constructor(...args: unknown[]) {
        super(...args);
        now.open.push(this);
      }
    };
    ends.reallyExit = (exitCode) => void (now.exitCode = exitCode);
  };
  const unpatch = () => {
    fs.readFileSync = real.read;
    fs.writeSync = real.write;
    sqlite.DatabaseSync = real.Database;
    ends.reallyExit = reallyExit;
    process.argv = argv;
  };

  return {
    run(project, client, input, env = {}) {
      const { HOME: _home, XDG_CACHE_HOME: _cache, ...own } = project.env;
      for (const key of Object.keys(process.env)) delete process.env[key];
      // Without a home the hook keeps no compiled code and loads its files with `require`, once.
      Object.assign(process.env, own, env);
      if (process.cwd() !== project.root) process.chdir(project.root);
      process.argv = [process.execPath, file, client];
      now = { input, stdout: "", stderr: "", exitCode: null, open: [] };
      const startedAt = performance.now();
      patch();
      try {
        start({}, require, { exports: {} }, file, DIST);
      } catch (error) {
        now.exitCode = 1;
        now.stderr += String((error as Error).stack ?? error);
      } finally {
        unpatch();
      }
      const tookMs = performance.now() - startedAt;
      for (const db of now.open) if (db.isOpen) db.close();
      return { exitCode: now.exitCode, stdout: now.stdout, stderr: now.stderr, tookMs };
    },
    end() {
      for (const key of Object.keys(process.env)) delete process.env[key];
      Object.assign(process.env, real.env);
    },
  };
}
