/**
 * The few settings that a prompt needs, read by hand: the table of all settings with its texts is too large for the hook. A
 * wrong value counts as absent, and the CLI says so. A test holds this reader against the table.
 */
import type { DiscoverSettings } from "./discover.ts";

/** Later files beat earlier ones. */
export function readHookSettings(files: readonly unknown[]): DiscoverSettings {
  const number = (key: string, fallback: number, low: number, high: number): number =>
    find(files, key, (value) => typeof value === "number" && value >= low && value <= high) ?? fallback;
  return {
    maxSkills: number("maxSkills", 3, 1, 10),
    recommendThreshold: number("recommendThreshold", 0.4, 0, 1),
    autoLoadThreshold: number("autoLoadThreshold", 0.6, 0, 1),
    autoLoad: find(files, "autoLoad", (value) => value === "asked" || value === "confident") ?? "asked",
    enforce: find(files, "enforce", (value) => typeof value === "boolean") ?? false,
    idleMinutes: number("idleMinutes", 30, 1, 100_000),
    forgetAfterPrompts: number("forgetAfterPrompts", 100, 0, 1_000_000),
  };
}

/** `{skills: {x}}` and `{"skills.x"}` are the same. */
function find<T>(files: readonly unknown[], key: string, isRight: (value: unknown) => boolean): T | undefined {
  let found: T | undefined;
  for (const file of files) {
    const fields = file as Record<string, Record<string, unknown> | undefined> | null;
    for (const value of [fields?.["skills"]?.[key], fields?.[`skills.${key}`]]) if (isRight(value)) found = value as T;
  }
  return found;
}
