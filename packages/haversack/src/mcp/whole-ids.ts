/**
 * Ids in a call must be whole. A person shortens an id that they see before them; an agent that writes "T4" has made it up, and
 * with a shortened id that happens to begin one, it would change a task that nobody meant.
 */
import { explainShortId } from "../engine/work/whole-id.ts";
import type { ToolCall } from "./tool.ts";
import { reading } from "./work-answer.ts";

/** Undefined: all are whole, or imported ones that look like this. Else what to tell the agent. */
export async function shortenedId(
  input: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<string | undefined> {
  const [short] = ID_FIELDS.flatMap((field) => input[field] ?? [])
    .flat()
    .filter((id): id is string => typeof id === "string" && SHORTENED.test(id.trim()))
    .map((id) => id.trim());
  if (short === undefined) return undefined;
  let problem: string | undefined;
  await reading(call, async (parts) => {
    problem = await explainShortId(short, parts);
    return { text: "" };
  });
  return problem;
}

/** `agent_id` and `session_id` are the client's. */
const ID_FIELDS = ["task_id", "story_id", "epic_id", "parent_id", "depends_on", "depends_on_task_id", "about", "id"];
/** Whole ones have twelve digits. */
const SHORTENED = /^[TSEHM]\d{1,11}$/i;
