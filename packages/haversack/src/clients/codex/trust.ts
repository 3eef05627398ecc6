/**
 * What the user has allowed Codex to run. Read from their `config.toml`, never written. A hook runs only after its review in `/hooks`, and a
 * project's files count only once its folder is trusted. Codex reports neither case (seen in 0.166.0).
 */
import type { HookEntry } from "../hook-settings.ts";
import { simpleValue, tomlStatements } from "./toml-statements.ts";

export interface Trust {
  isFolderTrusted: boolean;
  /** Events whose hook has no review. A review of an older form of the hook counts as one, because only Codex can tell them apart. */
  unreviewed: string[];
  /** Events whose hook the person has switched off. */
  switchedOff: string[];
  /** `features.hooks = false`. */
  areHooksOff: boolean;
}

export function readTrust(
  config: string,
  { root, file, hooks }: { root: string; file: string; hooks: readonly Pick<HookEntry, "event" | "path">[] },
): Trust {
  const values = new Map(tomlStatements(config).map(({ path, value }) => [JSON.stringify(path), simpleValue(value)]));
  const at = (...path: string[]) => values.get(JSON.stringify(path));
  const state = (hook: Pick<HookEntry, "event" | "path">, name: string) =>
    at("hooks", "state", hookKey(file, hook), name);
  return {
    isFolderTrusted: at("projects", root, "trust_level") === "trusted",
    unreviewed: hooks.filter((hook) => state(hook, "trusted_hash") === undefined).map(({ event }) => event),
    switchedOff: hooks.filter((hook) => state(hook, "enabled") === "false").map(({ event }) => event),
    areHooksOff: at("features", "hooks") === "false",
  };
}

/** The client's key for a hook: file, event, index of its group, index in the group. */
export function hookKey(file: string, { event, path }: Pick<HookEntry, "event" | "path">): string {
  const name = event.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
  return `${file}:${name}:${path[2]}:${path[4]}`;
}
