/** A scratch repository that is wired for Codex, and what its tests ask of the built program. */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { codex } from "../../../packages/haversack/src/clients/codex/wiring.ts";
import { applyInit, planInit } from "../../../packages/haversack/src/engine/init.ts";
import type { Scope, WiringPlace } from "../../../packages/haversack/src/engine/wiring.ts";
import { openDatabase } from "../../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { developerTexts, type ResponsesRequest } from "../responses-request.ts";
import { haversack } from "../run-haversack.ts";
import { type CodexRepo, codexRepo } from "./codex-repo.ts";
import { codexProgram } from "./install.ts";
import type { CodexRun } from "./run-codex.ts";

export { haversack };

export const DIST = realpathSync(join(import.meta.dirname, "../../../packages/haversack/dist"));
const BIN = join(DIST, "haversack.cjs");

/** A repository with a skill that Codex lists and one that it does not, wired as `init` does it. */
export function haversackRepo(
  scope: Scope = "project",
  installed: Partial<WiringPlace["installed"]> = {},
  { hasGuards = false, seesOutputs = false, asksServer = false } = {},
): CodexRepo {
  const repo = codexRepo();
  repo.writeSkill("sql-tuning", { description: "Makes slow SQL queries fast.", body: "BODY-OF-sql-tuning" });
  repo.writeSkill("pdf-forms", {
    description: "Fills in PDF forms.",
    body: "BODY-OF-pdf-forms",
    folder: ".claude/skills",
  });
  haversack(repo, "skill", "index");
  const place: WiringPlace = {
    scope,
    cwd: repo.root,
    // `init` asks the client for its version.
    env: { ...repo.env, ...(asksServer && { PATH: dirname(codexProgram()) }) },
    installed: { node: process.execPath, hook: join(DIST, "hook.cjs"), bin: BIN, ...installed },
    hasGuards,
    seesOutputs,
    hooks: asksServer ? "server" : "command",
  };
  applyInit(planInit([codex], place), repo.base);
  return repo;
}

/** What a person does when the client asks whether they trust a folder. */
export function trustFolder(repo: CodexRepo): void {
  repo.addConfig(`\n[projects.${JSON.stringify(repo.root)}]\ntrust_level = "trusted"\n`);
}

export function wipOf(repo: CodexRepo, { threadId }: CodexRun, agentId?: string): Record<string, unknown> | null {
  const agent = agentId ? ["--agent", agentId] : [];
  return JSON.parse(haversack(repo, "wip", "--session", threadId, ...agent, "--json")).wip;
}

/** The texts that our hooks added to a request. Only they contain our name with a capital letter, or begin like a recommendation. */
export function ours(request: Pick<ResponsesRequest, "input"> | undefined): string[] {
  if (!request) throw new Error("there is no such request");
  return developerTexts(request).filter((text) => /\bHaversack\b|\(haversack\)|^# (?:Skill|New Skills)/.test(text));
}

export async function send(repo: CodexRepo, to: string, text: string): Promise<void> {
  const handle = openDatabase(join(repo.root, ".haversack/haversack.db"), { durability: "full", busyMs: 5_000 });
  try {
    await new SqliteWorkStore(handle).sendMessage({ to: [to], text }, { name: "backend", at: new Date() });
  } finally {
    handle.db.close();
  }
}

/** The MCP servers that run in this repository, ended as by a crash; how many there were. */
export function killServers({ root }: CodexRepo): number {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isServer(name, root));
  for (const pid of pids) process.kill(Number(pid), "SIGKILL");
  return pids.length;
}

function isServer(pid: string, root: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words.includes(BIN) && words.includes("mcp") && readlinkSync(`/proc/${pid}/cwd`) === root;
  } catch {
    // It has ended meanwhile, or is not ours to look at.
    return false;
  }
}
