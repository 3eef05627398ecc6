/**
 * What a project's own config may not do by itself. A cloned repository brings its `.haversack/config.json` along, so settings in it
 * that read outside the project, load text unasked or change what the user sees take effect only when the user has accepted
 * them with `haversack trust`, or has set them in the user's own config.
 */

/** Why a setting of a project needs the user's word. */
export type FarReach =
  /** Names a folder outside of the project. */
  | "outside"
  /** Lower than the default, so that more is shown or loaded than the user expects. */
  | "lower"
  /** So high that the log could fill the disk. */
  | "disk"
  /** So high or so low that a prompt could bring far more text than usual. */
  | "flood"
  /** So low that local state is deleted after a few days. */
  | "forget"
  /** So low that a claim ends while its agent still works, and another agent takes the task. */
  | "lease"
  /** Names skills whose text comes along with a task. */
  | "load"
  /** Switches on what is off by default. */
  | "on";

interface FarRule {
  reach: FarReach;
  default?: number | string | boolean;
  /** A number below this one needs the user's word. 0 does not where it means never (`isZeroFree`). */
  below?: number;
  isZeroFree?: boolean;
  /** A number above this one needs the user's word. */
  above?: number;
}

/** The defaults are those of config-schema.ts, which is too large for the hook; a test holds both together. */
export const FAR_REACHING: Readonly<Record<string, FarRule>> = {
  "skills.folders": { reach: "outside" },
  "skills.recommendThreshold": { reach: "lower", default: 0.4, below: 0.4 },
  "skills.autoLoadThreshold": { reach: "lower", default: 0.6, below: 0.6 },
  "skills.autoLoad": { reach: "on", default: "asked" },
  "skills.enforce": { reach: "on", default: false },
  "work.replaceResults": { reach: "on", default: false },
  "artifacts.sendBack": { reach: "on", default: false },
  "wake.skillPatterns": { reach: "load" },
  "wake.typeSkills": { reach: "load" },
  "wake.crossCutting": { reach: "load" },
  // Teams change these for good reasons, so a wide range around the default is free.
  "skills.maxSkills": { reach: "flood", default: 3, above: 5 },
  "skills.forgetAfterPrompts": { reach: "flood", default: 100, below: 10, isZeroFree: true },
  "skills.idleMinutes": { reach: "flood", default: 30, below: 5 },
  "work.leaseMinutes": { reach: "lease", default: 60, below: 5 },
  "store.retentionDays": { reach: "forget", default: 90, below: 14, isZeroFree: true },
  "log.maxBytes": { reach: "disk", default: 1_000_000, above: 10_000_000 },
  "log.keep": { reach: "disk", default: 3, above: 10 },
};

export interface IgnoredSetting {
  key: string;
  value: unknown;
  reach: FarReach;
}

/** The project's config without what the user has not accepted, and what that was. */
export interface TrustedConfig {
  value: unknown;
  ignored: IgnoredSetting[];
}

/** `accepted`: what `farReaching` said when the user accepted it. All of it counts, or nothing: a change needs a new acceptance. */
export function trustedConfig(value: unknown, accepted: string | undefined): TrustedConfig {
  const found = farSettings(value);
  if (found.length === 0 || (accepted !== undefined && accepted === formatFar(found))) return { value, ignored: [] };
  return { value: without(value as Record<string, unknown>), ignored: found };
}

/** The far-reaching settings of a project's config as a text to record; undefined when it has none. */
export function farReaching(value: unknown): string | undefined {
  const found = farSettings(value);
  return found.length === 0 ? undefined : formatFar(found);
}

export function formatFar(found: readonly IgnoredSetting[]): string {
  return JSON.stringify(found.map(({ key, value }) => [key, value]));
}

function farSettings(value: unknown): IgnoredSetting[] {
  return Object.entries(FAR_REACHING).flatMap(([key, rule]) =>
    valuesOf(value, key).flatMap((given) => {
      const far = farPart(given, rule);
      return far === undefined ? [] : [{ key, value: far, reach: rule.reach }];
    }),
  );
}

/** The part of a value that reaches too far: of folders those outside, else all of it. */
function farPart(value: unknown, { reach, default: usual, below, above, isZeroFree }: FarRule): unknown {
  if (reach === "outside") {
    const outside = Array.isArray(value) ? value.filter(isOutside) : [];
    return outside.length > 0 ? outside : undefined;
  }
  // Without a skill after the colon it only switches a shipped one off.
  if (reach === "load") {
    const named = Array.isArray(value) ? value.filter((line) => typeof line !== "string" || !/:\s*$/.test(line)) : [];
    return named.length > 0 ? value : undefined;
  }
  if (below !== undefined || above !== undefined) {
    // What is no number counts as absent.
    if (typeof value !== "number" || (isZeroFree && value === 0)) return undefined;
    return value < (below ?? value) || value > (above ?? value) ? value : undefined;
  }
  return value === undefined || value === usual ? undefined : value;
}

function isOutside(folder: unknown): boolean {
  if (typeof folder !== "string") return false;
  return /^(?:[/\\~]|[A-Za-z]:)/.test(folder) || folder.split(/[\\/]/).includes("..");
}

/** `{a: {b: 1}}` and `{"a.b": 1}` are the same setting. */
function valuesOf(config: unknown, key: string): unknown[] {
  const fields = config as Record<string, Record<string, unknown> | undefined> | null | undefined;
  if (typeof fields !== "object" || fields === null) return [];
  const cut = key.indexOf(".");
  const section = fields[key.slice(0, cut)];
  return [
    typeof section === "object" && section !== null ? section[key.slice(cut + 1)] : undefined,
    fields[key],
  ].filter((value) => value !== undefined);
}

function without(config: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(config)) {
    const isSection = typeof value === "object" && value !== null && !Array.isArray(value);
    const inner = isSection
      ? Object.fromEntries(
          Object.entries(value).flatMap(([key, one]) => keep(`${name}.${key}`, one).map((left) => [key, left])),
        )
      : undefined;
    const [left] = inner ? [inner] : keep(name, value);
    if (left !== undefined) kept[name] = left;
  }
  return kept;
}

function keep(key: string, value: unknown): unknown[] {
  const rule = Object.hasOwn(FAR_REACHING, key) ? FAR_REACHING[key] : undefined;
  if (!rule || farPart(value, rule) === undefined) return [value];
  const inside = rule.reach === "outside" ? (value as unknown[]).filter((folder) => !isOutside(folder)) : [];
  // Without anything left the setting is not the project's at all.
  return inside.length > 0 ? [inside] : [];
}
