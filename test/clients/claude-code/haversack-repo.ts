/** A scratch repository that `haversack init` wired as a user would do it, and helpers that run the built program in it. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ModelRequest } from "../model-request.ts";
import { type Injection, injected } from "../request-text.ts";
import { haversack } from "../run-haversack.ts";
import { type ScratchRepo, scratchRepo } from "./scratch-repo.ts";

export { haversack };

export const DIST = join(import.meta.dirname, "../../../packages/haversack/dist");
export const BIN = join(DIST, "haversack.cjs");

/** The name of our tool in this client. */
export const SKILL_TOOL = "mcp__haversack__skill";

/** Three skills that share no words. */
export const SKILLS = {
  "release-notes": {
    description: "Writes release notes and changelog entries from merged pull requests and the git log.",
    body: "# Release notes\n\nBODY-OF-release-notes: group the entries by kind, newest first.",
  },
  "pdf-forms": {
    description: "Fills in PDF forms, merges PDF files and extracts their tables.",
    body: "# PDF forms\n\nBODY-OF-pdf-forms: list the fields before you fill them.",
  },
  "sql-tuning": {
    description: "Makes slow SQL queries fast: reads EXPLAIN plans and adds the right indexes in PostgreSQL.",
    body: "# SQL tuning\n\nBODY-OF-sql-tuning: read the plan before you add an index.",
  },
};

export const FITTING = "Write the release notes for version 2.4 from the merged pull requests.";
export const ORDINARY = "Thanks, that looks good. Please go on.";
export const NAMING = "Use the pdf-forms skill and fill in the application.";

/** A repository with the three skills (or these) and nothing of ours. */
export function skillRepo(skills: Record<string, { description: string; body: string }> = SKILLS): ScratchRepo {
  const repo = scratchRepo();
  for (const [name, skill] of Object.entries(skills)) repo.writeSkill(name, skill);
  return repo;
}

/** The same, wired. */
export function haversackRepo(skills?: Parameters<typeof skillRepo>[0]): ScratchRepo {
  const repo = skillRepo(skills);
  haversack(repo, "init", "--yes", "--project", "--client", "claude-code");
  return repo;
}

export function wipOf(repo: ScratchRepo, sessionId: string, agentId?: string): Record<string, unknown> | null {
  const agent = agentId ? ["--agent", agentId] : [];
  return JSON.parse(haversack(repo, "wip", "--session", sessionId, ...agent, "--json")).wip;
}

/** The texts that our hooks added to a request. These repositories have no other hooks. */
export function ours(request: ModelRequest | undefined): Injection[] {
  if (!request) throw new Error("there is no such request");
  return injected(request);
}

/** How often a request contains a text. */
export function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** The client's shell commands find the Node that runs the tests. */
export const NODE_ON_PATH = { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };

/** Changes the settings that `init` wrote. */
export function editSettings(repo: ScratchRepo, edit: (text: string) => string): void {
  const path = ".claude/settings.local.json";
  repo.write(path, edit(readFileSync(join(repo.root, path), "utf8")));
}
