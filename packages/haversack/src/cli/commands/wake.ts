import { HaversackError, isFault } from "../../base/errors.ts";
import { findTemplates } from "../../engine/trust-project.ts";
import { listAgents } from "../../engine/wake/agents.ts";
import { wakeAgent } from "../../engine/wake/wake-agent.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { type Call, option, sayNote } from "../command.ts";
import { BRANCH, BUDGET, branchOf, CLIENT, wakeParts } from "../wake.ts";
import { defineWork, inputOf, type OpenWork } from "../work.ts";

export const command = defineWork("read", {
  about:
    "Prints what an agent needs to continue: who it is, its skill, plan, task and work in progress, unread messages, and the next action, as much as its client takes. No message is marked as read. Exit 1 if there is nothing to resume.",
  arguments: [
    { name: "AGENT", about: "its name (default: HAVERSACK_AGENT, else the only agent, else the session seen last)" },
  ],
  options: {
    client: CLIENT,
    budget: BUDGET,
    task: option("ID", "Print it for this task instead of the one it holds."),
    session: option("ID", "Of this session (default: the one it was seen in last)."),
    branch: BRANCH,
  },
  examples: {
    "haversack wake backend": "for reading, or to paste into a session",
    "haversack wake backend --client codex --budget 1000": "the most important 1,000 tokens",
    "haversack wake --task T4829": "for whoever holds the task",
  },
  json: "{agent, role, task_id?, skills?: [{id, because, changed?}], tokens, chars, included, left_out?: [{what, count, how?}], missing?, problems?, other_sessions?, text}.",
  async run(call, work) {
    const [agent] = call.arguments;
    const options = inputOf(call, "client", "budget", "task", "session");
    const parts = wakeParts(call, work);
    const branch = branchOf(call);
    const isNamed = agent !== undefined || options.taskId !== undefined || options.sessionId !== undefined;
    const woken = await wakeAgent({ agent, branch, ...options }, parts).catch(async (error: unknown) => {
      if (isNamed || !isFault(error, "input-invalid")) throw error;
      return wakeAgent({ branch, ...options, ...(await onlyOne(call, work)) }, parts);
    });
    if (woken.kind === "nothing") return woken;
    if (!call.json) {
      const { role } = woken.packet.state.agent;
      const unused = findTemplates(work.paths).filter((template) => template.role === role && !template.isAccepted);
      const notes = unused.map(({ path }) => `${path} is not used before you accept it (\`haversack trust\`)`);
      sayNote(call.io, ...notes, ...woken.packet.problems);
    }
    return { data: woken.view, text: woken.packet.text, isVerbatim: true };
  },
});

/** Without a name, use the only agent there is, or else the session seen last. */
async function onlyOne({ io }: Call, work: OpenWork): Promise<{ agent: string } | { sessionId: string }> {
  const agents = (await listAgents({ limit: 20 }, work)).items.map(({ name }) => name);
  if (agents.length > 1) {
    throw new HaversackError("usage", "there are several agents: name one", {
      hint: `\`haversack wake NAME\`: ${agents.join(", ")}`,
    });
  }
  const [agent] = agents;
  const [last] = new SqliteLocalStore(work.handle).listSessions({ limit: 1 });
  if (agent === undefined && !last) {
    throw new HaversackError("not-found", "there is nobody to wake: no agent and no session was seen here yet", {
      hint: "`haversack agent add NAME --role ROLE` names an agent",
    });
  }
  sayNote(
    io,
    agent === undefined ? `for session ${last!.sessionId}, which was seen last` : `for @${agent}, the only agent`,
  );
  return agent === undefined ? { sessionId: last!.sessionId } : { agent };
}
