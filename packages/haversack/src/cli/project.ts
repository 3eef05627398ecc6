/** What most commands begin with: the project they were called in, its settings, and its store. What is not kept is told on standard error. */
import {
  findProject as find,
  type OpenProject,
  type OpenProjectOptions,
  openProject as open,
  type Project,
} from "../engine/open-project.ts";
import type { Call, Io } from "./command.ts";

export type { OpenProject, Project };

/** Without its store. A wrong setting is a fault, a doubtful one a warning. */
export function findProject({ io }: Call): Project {
  const project = find({ cwd: io.cwd, env: io.env }, (line) => io.err(`haversack: warning: ${line}\n`));
  // Read now: a wrong setting is to be told before anything is done.
  void project.config;
  return project;
}

export function openProject(call: Call, options: Omit<OpenProjectOptions, "note">): OpenProject {
  const { io } = call;
  return open(findProject(call), { ...options, note: (text) => noteOnce(io, text) });
}

const told = new WeakMap<Io, Set<string>>();

/** Some commands open it twice. */
function noteOnce(io: Io, text: string): void {
  const before = told.get(io) ?? new Set();
  if (before.has(text)) return;
  told.set(io, before.add(text));
  io.err(`haversack: note: ${text}\n`);
}
