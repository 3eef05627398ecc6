/** The settings of work that a hook needs, read by hand as in hook-settings.ts. A test holds this reader against the table. */
export interface HookWorkSettings {
  leaseMs: number;
  replaceResults: boolean;
}

/** Later files beat earlier ones; a wrong value counts as absent. */
export function readHookWorkSettings(files: readonly unknown[]): HookWorkSettings {
  const settings = { leaseMs: 60 * MINUTE_MS, replaceResults: false };
  for (const file of files) {
    const fields = file as Record<string, Record<string, unknown> | undefined> | null;
    for (const minutes of [fields?.["work"]?.["leaseMinutes"], fields?.["work.leaseMinutes"]]) {
      const isRight = Number.isInteger(minutes) && Number(minutes) >= 1 && Number(minutes) <= 100_000;
      if (isRight) settings.leaseMs = Number(minutes) * MINUTE_MS;
    }
    for (const value of [fields?.["work"]?.["replaceResults"], fields?.["work.replaceResults"]]) {
      if (typeof value === "boolean") settings.replaceResults = value;
    }
  }
  return settings;
}

const MINUTE_MS = 60_000;
