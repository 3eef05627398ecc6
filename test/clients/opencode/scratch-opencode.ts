/** A scratch repository with XDG folders of its own for opencode, and the recording plugin. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { echoCommand, makeScratch, type Scratch, writeAnswers } from "../scratch.ts";

/** What record-plugin.js noted of one call. */
export interface PluginRecord {
  hook: string;
  input: Record<string, unknown>;
  output: Record<string, unknown>;
}

export interface ScratchOpencode extends Scratch<PluginRecord> {
  /** Merged into the repository's opencode.json, key by key of the top level. */
  writeConfig(config: Record<string, unknown>): void;
  config(): Record<string, unknown>;
  /** Puts the recording plugin in place; see record-plugin.js for the keys of answers. */
  recordHooks(answers?: Record<string, unknown>): void;
}

/** One that is removed when the test is over. */
export function scratchOpencode(): ScratchOpencode {
  const repo = makeScratchOpencode();
  onTestFinished(() => repo.remove());
  return repo;
}

export function makeScratchOpencode(): ScratchOpencode {
  const scratch = makeScratch<PluginRecord>({
    prefix: "haversack-opencode-",
    folders: ["config/opencode", "data", "cache", "state"],
    variables: {
      XDG_CONFIG_HOME: "config",
      XDG_DATA_HOME: "data",
      XDG_CACHE_HOME: "cache",
      XDG_STATE_HOME: "state",
      OPENCODE_TEST_HOME: "home",
      HAVERSACK_TEST_FOLDER: ".",
    },
    eventOf: ({ hook }) => hook,
  });
  let config: Record<string, unknown> = {};

  const repo: ScratchOpencode = {
    ...scratch,
    writeConfig(more) {
      config = { ...config, ...more };
      repo.write("opencode.json", JSON.stringify(config, undefined, 2));
    },
    config: () => config,
    recordHooks(answers = {}) {
      writeAnswers(repo.base, answers);
      const folder = join(repo.root, ".opencode/plugin");
      mkdirSync(folder, { recursive: true });
      copyFileSync(join(import.meta.dirname, "record-plugin.js"), join(folder, "recorder.js"));
    },
  };
  return repo;
}

/** The entry of `mcp` for the echo server. */
export function echoServer(repo: ScratchOpencode): Record<string, unknown> {
  return { type: "local", command: echoCommand(repo), enabled: true };
}
