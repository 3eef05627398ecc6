import { findTemplates } from "../../engine/trust-project.ts";
import { wakeAgent } from "../../engine/wake/wake-agent.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { BRANCH, BUDGET, branchOf, CLIENT, noteLines, wakeParts } from "../wake.ts";
import { inputOf, readWork, refuse } from "../work.ts";

export const spec: CommandSpec = {
  about:
    "Prints what an agent needs to go on: who it is, its skill, plan, task and work in progress, unread messages, and the next action, as much as its client takes. Reading it marks nothing as read. Exit 1 when there is nothing to resume.",
  arguments: [{ name: "AGENT", about: "its name (default: HAVERSACK_AGENT, else the session)" }],
  options: {
    client: CLIENT,
    budget: BUDGET,
    task: { type: "string", value: "ID", about: "As if it worked on this task, whatever it holds." },
    session: { type: "string", value: "ID", about: "Of this session (default: the one it was seen in last)." },
    branch: BRANCH,
  },
  examples: [
    { run: "haversack wake backend", says: "for reading, or to paste into a session" },
    { run: "haversack wake backend --client codex --budget 1000", says: "the most important 1,000 tokens" },
    { run: "haversack wake --task T4829", says: "for whoever holds the task" },
  ],
  json: "{agent, role, task_id?, skills?: [{id, because, changed?}], tokens, chars, included, left_out?: [{what, count, how?}], missing?, problems?, other_sessions?, text}.",
};

type Input = Parameters<typeof wakeAgent>[0];

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const [agent] = call.arguments;
    const options = inputOf<Input>(call, {
      client: "client",
      budgetTokens: "budget",
      taskId: "task",
      sessionId: "session",
    });
    const woken = await wakeAgent({ agent, branch: branchOf(call), ...options }, wakeParts(call, work));
    if (woken.kind === "nothing") return refuse(call, woken);
    if (!call.json) {
      const { role } = woken.packet.state.agent;
      const unused = findTemplates(work.paths).filter((template) => template.role === role && !template.isAccepted);
      const notes = unused.map(({ path }) => `${path} is not used before you accept it (\`haversack trust\`)`);
      noteLines(call, [...notes, ...woken.packet.problems]);
    }
    print(call, woken.view, () => woken.packet.text);
    return 0;
  });
}
