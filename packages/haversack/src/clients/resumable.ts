/** The clients whose agents can be tried to resume, by name; each with every way that it has. */
import { HaversackError } from "../base/errors.ts";
import type { ResumableClient } from "../engine/artifacts/check-resume.ts";
import type { Environment } from "../engine/project.ts";
import { claudeSessions, claudeSubAgents } from "./claude-code/resume.ts";
import { codexSessions } from "./codex/resume.ts";
import { findOnPath } from "./find-program.ts";

interface Resumable {
  title: string;
  /** On the PATH. */
  program: string;
  ways: readonly ((program: string) => ResumableClient)[];
  /** How many requests to a model the trial takes, about. */
  requests: number;
}

const RESUMABLE: Readonly<Record<string, Resumable>> = {
  "claude-code": { title: "Claude Code", program: "claude", ways: [claudeSubAgents, claudeSessions], requests: 11 },
  codex: { title: "Codex", program: "codex", ways: [codexSessions], requests: 3 },
};

export const RESUMABLE_NAMES = Object.keys(RESUMABLE);

/** A fault when its program is not there: then nothing was tried. */
export function resumableClient(
  name: string,
  env: Environment,
): { title: string; requests: number; clients: ResumableClient[] } {
  const { title, program: word, ways, requests } = RESUMABLE[name]!;
  const program = findOnPath(word, env);
  if (program === undefined) {
    throw new HaversackError("not-found", `${title} is not installed: its program is not on the PATH`);
  }
  return { title, requests, clients: ways.map((way) => way(program)) };
}
