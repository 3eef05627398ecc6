/** `skill`: loads a skill by name, once per window; searches skills; reads a skill's file. */
import { cleanLine, cutAt } from "../base/clean-text.ts";
import type { LiveSkills } from "../engine/live-skills.ts";
import { defineTool, type ToolAnswer } from "./tool.ts";
import { FLAG, TEXT } from "./work-answer.ts";

/** A longer list would cost more than a second, sharper query. */
const MOST_FOUND = 8;
const LONGEST_BRIEF_CHARS = 160;
/** About 10,000 tokens; the agent can read the rest from the file. */
const MOST_RESOURCE_CHARS = 40_000;

export const skillTool = defineTool(
  {
    name: "skill",
    description: "Load a skill by name, or find unlisted ones by query.",
    annotations: { readOnlyHint: true },
    set: "default",
    isAlwaysLoaded: true,
  },
  {
    ...{ name: TEXT, query: TEXT, resource: { type: "string", description: "skill file" } },
    ...{ reload: FLAG, includeResources: FLAG },
  },
  ({ name, query, resource, reload, includeResources }, { parts, marks, at }) => {
    const skills = parts.skills;
    if (name?.trim()) {
      if (resource !== undefined) return readFile(skills, name, resource);
      const loaded = skills.load({
        name,
        marks,
        at,
        ...(reload !== undefined && { reload }),
        ...(includeResources !== undefined && { includeResources }),
      });
      return loaded.kind === "unknown" ? { text: loaded.text, isError: true } : { text: loaded.text };
    }
    if (query?.trim()) return search(skills, query);
    return { text: 'Give the name of a skill, or a query to find one: {"query": "what you need"}.', isError: true };
  },
);

function search(skills: LiveSkills, query: string): ToolAnswer {
  const { found, total } = skills.search(query, { limit: MOST_FOUND });
  if (total === 0) return { text: "No skill is installed." };
  if (found.length === 0) return { text: `None of the ${total} skills has any of these words; try others.` };
  const lines = found.map(({ id, confidence, brief }) =>
    `${id} (${confidence.toFixed(2)}) ${cleanLine(brief, { maxChars: LONGEST_BRIEF_CHARS })}`.trimEnd(),
  );
  return { text: [...lines, 'Load one with {"name": …}.'].join("\n") };
}

function readFile(skills: LiveSkills, name: string, path: string): ToolAnswer {
  const read = skills.readResource(name, path);
  if (read.kind !== "text") return { text: read.text, isError: true };
  const text = cutAt(read.text, MOST_RESOURCE_CHARS);
  if (text.length === read.text.length && !read.cutFrom) return { text };
  return {
    text: `${text}\n\n[cut: ${text.length} of ${read.cutFrom ?? read.text.length} characters; the whole file is ${read.file}]`,
  };
}
