/**
 * Ids in a call must be whole. A person shortens an id that they see before them; an agent that writes "T48" has made it up, and
 * with a prefix that happens to fit it would change a task that nobody meant.
 */
import { explainShortId } from "../engine/work/whole-id.ts";
import type { ToolCall } from "./tool.ts";
import { reading } from "./work-answer.ts";

/** Undefined: none is shortened. Else what to tell the agent. */
export async function shortenedId(
  input: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<string | undefined> {
  const ids = ID_FIELDS.flatMap((field) => input[field] ?? [])
    .flat()
    .filter((id): id is string => typeof id === "string" && id.trim() !== "");
  if (ids.length === 0) return undefined;
  let problem: string | undefined;
  await reading(call, async (parts) => {
    for (const id of ids) problem ??= await explainShortId(id.trim(), parts);
    return { text: "" };
  });
  return problem;
}

/** `agent_id` and `session_id` are the client's. */
const ID_FIELDS = ["task_id", "story_id", "epic_id", "parent_id", "depends_on", "depends_on_task_id", "about", "id"];
