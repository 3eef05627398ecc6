/** A scratch repository with a configuration folder of its own for Claude Code, and the hook recorder. */
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import {
  echoCommand,
  type HookAnswer,
  hookEvent,
  makeScratch,
  recorderHooks,
  type Scratch,
  type SkillOptions,
  writeAnswers,
} from "../scratch.ts";
import { claudeProgram } from "./install.ts";

export interface ScratchRepo extends Omit<Scratch, "writeSkill"> {
  configDir: string;
  writeSkill(name: string, options?: SkillOptions): void;
  /** Merged into .claude/settings.local.json, key by key of the top level. */
  writeSettings(settings: Record<string, unknown>): void;
  writeMcpServers(servers: Record<string, unknown>): void;
  /**
   * Registers the recorder for events. Answers are looked up by `Event:detail` (detail is source, tool, trigger or agent type), then
   * by `Event`.
   */
  recordHooks(answers?: Record<string, HookAnswer>, events?: readonly string[]): void;
}

/** Every event of 2.1.325 but WorktreeCreate and WorktreeRemove: a hook on those takes over what the client does. */
export const HOOK_EVENTS = [
  ..."SessionStart SessionEnd Setup UserPromptSubmit UserPromptExpansion PreToolUse PostToolUse PostToolUseFailure".split(
    " ",
  ),
  ..."PostToolBatch PermissionRequest PermissionDenied SubagentStart SubagentStop Stop StopFailure PreCompact".split(
    " ",
  ),
  ..."PostCompact PreModelSwitch PostModelSwitch Notification TaskCreated TaskCompleted TeammateIdle".split(" "),
  ..."InstructionsLoaded ConfigChange CwdChanged FileChanged DirectoryAdded MessageDisplay".split(" "),
];

/** A scratch repository that is removed when the test is over. */
export function scratchRepo(): ScratchRepo {
  const repo = makeScratchRepo();
  onTestFinished(() => repo.remove());
  return repo;
}

export function makeScratchRepo(): ScratchRepo {
  const scratch = makeScratch({
    prefix: "haversack-client-",
    folders: ["config"],
    variables: { CLAUDE_CONFIG_DIR: "config" },
    eventOf: hookEvent,
  });
  const { base } = scratch;
  let settings: Record<string, unknown> = {};

  const repo: ScratchRepo = {
    ...scratch,
    // `init` asks the client for its version.
    env: { ...scratch.env, PATH: `${dirname(claudeProgram())}:${process.env["PATH"] ?? ""}` },
    configDir: join(base, "config"),
    writeSkill: (name, options) => scratch.writeSkill(".claude/skills", name, options),
    writeSettings(more) {
      settings = { ...settings, ...more };
      repo.write(".claude/settings.local.json", JSON.stringify(settings));
    },
    writeMcpServers(mcpServers) {
      repo.write(".mcp.json", JSON.stringify({ mcpServers }));
    },
    recordHooks(answers = {}, events = HOOK_EVENTS) {
      writeAnswers(base, answers);
      const command = [process.execPath, join(import.meta.dirname, "record-hook.cjs"), base];
      repo.writeSettings({ hooks: recorderHooks(command, events) });
    },
  };
  return repo;
}

/** The entry of .mcp.json for the echo server. */
export function echoServer(repo: ScratchRepo): Record<string, unknown> {
  const [command, ...args] = echoCommand(repo);
  return { command, args };
}
