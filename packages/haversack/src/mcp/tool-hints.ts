/** Faults name commands, for people; an agent is told the tool that does the same. What has none is left out: it may have no shell. */
const TOOLS: Readonly<Record<string, string>> = {
  "task list": "get_tasks",
  "story list": "list_stories",
  "epic list": "get_epics",
  "handoff list": "get_task_handoff",
  "handoff show": "get_task_handoff",
  "agent list": "list_agents",
  next: "get_next_batch",
};

/** Undefined: nothing of it is of use to an agent. */
export function hintForAgent(hint: string): string | undefined {
  let isLost = false;
  const told = hint.replace(/`haversack ([^`]*)`/g, (_, command: string) => {
    const name = Object.keys(TOOLS).find((words) => command === words || command.startsWith(`${words} `));
    if (name === undefined) isLost = true;
    return TOOLS[name ?? ""] ?? "";
  });
  return isLost ? undefined : told;
}
