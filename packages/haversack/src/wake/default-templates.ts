/**
 * The shipped packets, one per role. A section whose parts are all empty is left out with its heading, so most packets
 * have few of these. Guidelines are only in those of sub-agents that were started in a role, and of agents that were added with one:
 * a session that works alone has its user. A project replaces one with `.haversack/templates/ROLE.md`. Loaded by the hook.
 */
const HAND_OFF =
  "- At the end put the details into set_task_handoff and answer with a short summary and `VERDICT: PASS`, `FAIL` or `BLOCKED`.";

const COMMON = `## Work in Progress
{{wip}}
{{handoffs}}

## Messages
{{messages}}`;

const END = `## New Message
{{new_message}}

## Your Next Action
{{next_action}}`;

function subAgent(title: string, guidelines: string): string {
  return `# ${title} Subagent
{{identity}}
{{missing}}

## Your Instructions
{{skill}}

## The Task
{{task}}

### From the Plan
{{plan}}

## Context from Orchestrator
{{wip}}
{{handoffs}}
{{messages}}

## Guidelines
${guidelines}
${HAND_OFF}

${END}`;
}

export const DEFAULT_TEMPLATES: Readonly<Record<string, string>> = {
  orchestrator: `# Orchestrator Wake-up Context
{{identity}}
{{missing}}

## Current Skill
{{skill}}

## Active Plan
{{plan}}

## Current Tasks
{{tasks}}
{{task}}

${COMMON}

## Recent Activity
{{activity}}

${END}`,
  implementer: subAgent(
    "Implementer",
    "- Test first. Do what the task asks and no more. Look over your own change before you hand it off.",
  ),
  "spec-reviewer": subAgent(
    "Spec Reviewer",
    "- Trust the code, not what was said about it.\n- PASS only if every criterion holds and nothing was added. Name file and line of what fails. Change nothing.",
  ),
  "quality-reviewer": subAgent(
    "Quality Reviewer",
    "- Name file, line and consequence of each finding, the worst first. Matters of taste are no reason to FAIL. Change nothing.",
  ),
  fixer: subAgent(
    "Fixer",
    "- Mend what was found and nothing else. See each test fail before you mend it and pass after.",
  ),
  default: `# Wake-up Context
{{identity}}
{{missing}}

## Current Skill
{{skill}}

## The Task
{{tasks}}
{{task}}

## Active Plan
{{plan}}

${COMMON}

## Recent Activity
{{activity}}

${END}`,
};
