/** A scratch repository with a Codex folder of its own, and the hook recorder. */
import { appendFileSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  echoCommand,
  type HookAnswer,
  hookEvent,
  makeScratch,
  put,
  readLines,
  recorderHooks,
  type Scratch,
  type SkillOptions,
  writeAnswers,
} from "../scratch.ts";

export interface CodexRepo extends Omit<Scratch, "writeSkill"> {
  codexHome: string;
  /** In `.agents/skills`, which Codex lists, or another folder. */
  writeSkill(name: string, options?: SkillOptions & { folder?: string }): void;
  /** Tables for the end of the user's config.toml. Without it the client would ask other hosts for plugins. */
  addConfig(toml: string): void;
  /**
   * Registers the recorder in the user's hooks.json. Answers are looked up by `Event:detail` (detail is source, tool, trigger or
   * agent type), then by `Event`.
   */
  recordHooks(answers?: Record<string, HookAnswer>, events?: readonly string[]): void;
  /** The lines of the session's file, of all sessions in the order of their start. */
  rollouts(): Record<string, unknown>[][];
}

export const HOOK_EVENTS =
  "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SubagentStart SubagentStop Stop SessionEnd".split(
    " ",
  );

export const RECORDER = join(import.meta.dirname, "../claude-code/record-hook.cjs");

/** A repository that is removed when the test is over. */
export function codexRepo(): CodexRepo {
  const repo = makeCodexRepo();
  onTestFinished(() => repo.remove());
  return repo;
}

export function makeCodexRepo(): CodexRepo {
  const scratch = makeScratch({
    prefix: "haversack-codex-",
    folders: ["codex"],
    variables: { CODEX_HOME: "codex" },
    eventOf: hookEvent,
  });
  const codexHome = join(scratch.base, "codex");

  return {
    ...scratch,
    codexHome,
    writeSkill: (name, { folder = ".agents/skills", ...text } = {}) => scratch.writeSkill(folder, name, text),
    addConfig: (toml) => appendFileSync(join(codexHome, "config.toml"), `${toml}\n`),
    recordHooks(answers = {}, events = HOOK_EVENTS) {
      writeAnswers(scratch.base, answers);
      const hooks = recorderHooks([process.execPath, RECORDER, scratch.base], events);
      put(join(codexHome, "hooks.json"), JSON.stringify({ hooks }));
    },
    rollouts() {
      const folder = join(codexHome, "sessions");
      if (!existsSync(folder)) return [];
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.endsWith(".jsonl"),
      );
      return files.sort().map((name) => readLines(join(folder, name)));
    },
  };
}

/** The table of config.toml for the echo server. */
export function echoServer(repo: CodexRepo, more = ""): string {
  const [command, ...words] = echoCommand(repo);
  const args = words.map((word) => JSON.stringify(word)).join(", ");
  return `[mcp_servers.echo]\ncommand = ${JSON.stringify(command)}\nargs = [${args}]\n${more}\n`;
}
