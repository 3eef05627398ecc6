/** opencode's names: what our tool is called there, and which skills its own tool loads. */
import { type ClientProfile, profileOf } from "../../skills/showing/activation.ts";
import type { SkillCard } from "../../skills/types.ts";

/** `isHidden`: hidden by the client's settings, so our tool has to load the skill. */
export function opencodeProfile(isHidden: (name: string) => boolean = () => false): ClientProfile {
  return {
    ...profileOf("opencode"),
    skillTool: `${SERVER_PREFIX}skill`,
    ownTool: { call: (id) => `skill(name: "${id}")`, sees: (card) => isListed(card) && !isHidden(card.name) },
  };
}

/** An MCP tool is called SERVER_TOOL here. */
export const SERVER_PREFIX = "haversack_";

/** Folders that the client reads itself (seen in 1.18.33), also in subfolders. XDG_CONFIG_HOME changes the path of its own folder. */
const SOURCES = /^(?:~\/)?\.(?:agents\/skills|claude\/skills|opencode\/skills?)$|\/opencode\/skills?$/;

function isListed({ sourceKind, sourceLabel, folder }: SkillCard): boolean {
  const isPlace = sourceKind === "project" || sourceKind === "user";
  return folder !== undefined && isPlace && SOURCES.test(sourceLabel);
}
