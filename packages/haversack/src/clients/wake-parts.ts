/** What waking needs of a place, for the files of the hook that wake. */
import type { WakeParts } from "../engine/wake/gather-wake.ts";
import { readHookWakeSettings } from "../engine/wake/hook-wake-settings.ts";
import { readInside } from "../engine/wake/read-inside.ts";
import type { SkillLookup } from "../store/sqlite/skill-cards.ts";
import type { WakePlace } from "./hook-place.ts";

export function wakeParts(index: SkillLookup, { handle, root, configFiles, now }: WakePlace): WakeParts {
  return {
    handle,
    index,
    root,
    settings: readHookWakeSettings(configFiles()),
    readText: (path) => readInside(root, path),
    now,
  };
}
