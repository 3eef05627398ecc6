/** Which skills can be kept out of Codex's listing, and where. */
import { basename, dirname } from "node:path";
import type { Deferral } from "../../engine/wiring.ts";
import type { SkillCard } from "../../skills/types.ts";
import { disableSkills, enableSkills } from "./config-skills.ts";
import type { CodexPlaces } from "./detect.ts";

export function codexDeferral({ userConfig: path }: CodexPlaces): Deferral {
  return {
    path,
    blank: "",
    isPrivate: true,
    isReadByFile: true,
    noNames: "Codex cannot list a skill's name without its description",
    keyOf,
    nameOf: (key) => basename(dirname(key)),
    set: (text, keys, _, own) => disableSkills(text, keys, { file: path, own }),
    drop: (text, own, keep) => enableSkills(text, own, { keep }),
  };
}

/** Its setting is the user's and counts in all projects: only skills that lie in this one are hidden by it. */
function keyOf(card: SkillCard): { key: string } | { why: string } {
  const { sourceKind, sourceLabel, folder, path } = card;
  if (!folder || !LISTED.test(sourceLabel)) return { why: "Codex does not list it anyway" };
  if (!card.modelInvocable) return { why: "its author keeps it out of the listing already" };
  if (sourceKind !== "project") {
    return { why: "it is a skill for all your projects, and Codex has no setting that hides it in one" };
  }
  return { key: path };
}

const LISTED = /(?:^|\/)\.(?:agents|codex)\/skills$/;
