/** A scratch repository with settings of its own for Gemini CLI, and the hook recorder. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { echoCommand, hookEvent, makeScratch, put, recorderHooks, type Scratch, writeAnswers } from "../scratch.ts";

export interface ScratchGemini extends Scratch {
  /** Merged into the user's settings, key by key of the top level. */
  writeUserSettings(settings: Record<string, unknown>): void;
  /** The same for .gemini/settings.json of the repository. */
  writeSettings(settings: Record<string, unknown>): void;
  /** Registers the recorder. A text answers an event as additionalContext, an object is printed as it is. */
  recordHooks(answers?: Record<string, unknown>, events?: readonly string[]): void;
}

export const GEMINI_EVENTS = [
  ..."SessionStart SessionEnd BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection".split(" "),
  ..."BeforeTool AfterTool PreCompress Notification".split(" "),
];

/** One that is removed when the test is over. */
export function scratchGemini(): ScratchGemini {
  const repo = makeScratchGemini();
  onTestFinished(() => repo.remove());
  return repo;
}

export function makeScratchGemini(): ScratchGemini {
  const scratch = makeScratch({
    prefix: "haversack-gemini-",
    variables: { XDG_CONFIG_HOME: "home/.config" },
    eventOf: hookEvent,
  });
  const { base, home } = scratch;
  let settings: Record<string, unknown> = {};
  let userSettings: Record<string, unknown> = {
    security: { auth: { selectedType: "gemini-api-key" } },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  };

  const repo: ScratchGemini = {
    ...scratch,
    writeUserSettings(more) {
      userSettings = { ...userSettings, ...more };
      put(join(home, ".gemini/settings.json"), JSON.stringify(userSettings));
    },
    writeSettings(more) {
      settings = { ...settings, ...more };
      repo.write(".gemini/settings.json", JSON.stringify(settings));
    },
    recordHooks(answers = {}, events = GEMINI_EVENTS) {
      writeAnswers(base, answers);
      const command = [process.execPath, join(import.meta.dirname, "record-hook.cjs"), base];
      repo.writeSettings({ hooks: recorderHooks(command, events, { timeout: 10_000 }) });
    },
  };
  repo.writeUserSettings({});
  return repo;
}

/** The entry of mcpServers for the echo server. */
export function echoServer(repo: ScratchGemini): Record<string, unknown> {
  const [command, ...args] = echoCommand(repo);
  return { command, args };
}
