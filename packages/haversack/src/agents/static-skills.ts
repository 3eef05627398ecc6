/** Finds agents whose files list `skills:`, for those who move to dynamic skills. `haversack skill check --agents` prints the same. */
import { formatStaticSkills, type StaticSkills, staticSkillsOf } from "../skills/static-skills.ts";
import { type AgentDefinition, readAgentFolder } from "./agent-file.ts";
import type { SkillRegistry } from "./skill-registry.ts";

export { formatStaticSkills, type StaticSkills };

/** `agents`: a folder of agents, or agents that were read. Empty: none of them loads a skill into every conversation. */
export function findStaticSkills(agents: string | readonly AgentDefinition[], skills: SkillRegistry): StaticSkills[] {
  const read = typeof agents === "string" ? readAgentFolder(agents).agents : agents;
  return read.flatMap(({ file, skills: listed }) => {
    const found = staticSkillsOf(file, listed, (name) => {
      const skill = skills.getSkill(name);
      if (!skill) return undefined;
      const { instructions, triggers, modelInvocable, path } = skill;
      return { instructions, hasTriggers: triggers !== undefined, isForPeople: !modelInvocable, path };
    });
    return found ?? [];
  });
}
