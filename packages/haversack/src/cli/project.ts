/** What most commands need first: the project they were called in, its settings, its store, and the named files. */
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { cleanLine } from "../base/clean-text.ts";
import { HaversackError } from "../base/errors.ts";
import {
  findProject as find,
  type OpenProject,
  type OpenProjectOptions,
  openProject as open,
  type Project,
  retireOldState,
} from "../engine/open-project.ts";
import { outputLimits } from "../engine/project.ts";
import type { Scope } from "../engine/wiring.ts";
import { type Call, type Io, sayNote, sayWarning } from "./command.ts";

export type { OpenProject, Project };

/** Without its store. A wrong setting is a warning, and its default is used. */
export function findProject({ io }: Pick<Call, "io">): Project {
  const project = find({ cwd: io.cwd, env: io.env }, (line) => warnOnce(io, line));
  // Read now, so a wrong setting is reported before anything is done.
  void project.config;
  return project;
}

export function openProject(call: Pick<Call, "io">, options: Omit<OpenProjectOptions, "note">): OpenProject {
  const { io } = call;
  return open(findProject(call), { ...options, note: (text) => once(io, text, sayNote) });
}

/** Removes what is older than the setting, and outputs beyond their limits. */
export function retireOld({ handle, paths, config }: OpenProject): void {
  const [days, outputs] = [config["store.retention_days"], outputLimits(config)];
  retireOldState(handle, { paths, days, outputs, now: new Date() });
}

export function warnOnce(io: Io, line: string): void {
  once(io, line, sayWarning);
}

const told = new WeakMap<Io, Set<string>>();

/** Some commands open the project twice. */
function once(io: Io, text: string, say: (io: Io, text: string) => void): void {
  const before = told.get(io) ?? new Set();
  if (before.has(text)) return;
  told.set(io, before.add(text));
  say(io, text);
}

/** `--user` or `--project`. */
export function scopeOf({ options }: Pick<Call<{ user?: boolean; project?: boolean }>, "options">): Scope {
  if (options.user && options.project)
    throw new HaversackError("usage", "--user and --project cannot be used together");
  return options.user ? "user" : "project";
}

/** `sessionId`: the requested session; absent if the newest was requested. */
export function noSession(sessionId?: string): HaversackError {
  if (!sessionId) return new HaversackError("not-found", "no session was seen here yet");
  return new HaversackError("not-found", `no session "${cleanLine(sessionId)}" was seen here`, {
    hint: "`haversack session list` shows those that were",
  });
}

// Files that are arguments of a command. In every command a missing file exits with 1, a folder with 2, an unreadable file with 3.

/** `hint`: what the command accepts instead. */
export function readNamedFile({ io }: Pick<Call, "io">, file: string, { hint }: { hint?: string } = {}): string {
  try {
    return readFileSync(resolve(io.cwd, file), "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const more = { cause, ...(hint !== undefined && { hint }) };
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new HaversackError("not-found", `there is no file ${file}`, more);
    if (code === "EISDIR") throw new HaversackError("usage", `${file} is a folder, and a file is needed`, more);
    throw new HaversackError("file-unreadable", `${file}: cannot be read (${code})`, { cause });
  }
}

/** The path of a file that a command writes. Its folder must exist. */
export function targetFile({ io }: Pick<Call, "io">, file: string): string {
  const path = resolve(io.cwd, file);
  const look = (at: string) => statSync(at, { throwIfNoEntry: false });
  if (!look(dirname(path))?.isDirectory()) throw new HaversackError("not-found", `there is no folder ${dirname(file)}`);
  if (look(path)?.isDirectory()) throw new HaversackError("usage", `${file} is a folder, and a file is needed`);
  return path;
}
