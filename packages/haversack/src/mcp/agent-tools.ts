/** Agent tools for `--tools all`: the list of agents, their messages, and the packet to resume work. */
import { gitPlace } from "../base/project-root.ts";
import { listAgents } from "../engine/wake/agents.ts";
import { type Inbox, readInbox, sendMessage } from "../engine/wake/messages.ts";
import { wakeAgent } from "../engine/wake/wake-agent.ts";
import { FIELD_SETS } from "../engine/work/words.ts";
import { type Tool, toolMaker, writes } from "./tool.ts";
import { hidden, needed } from "./tool-input.ts";
import { answer, answerLines, answerList, COUNT, entry, FLAG, isMinimal, moment, TEXT, TEXTS } from "./work-answer.ts";

/** More than the longest message in plain English needs. */
const INBOX_TOKENS = 8000;

/** If several agents share a name, prefer the one on the server's branch. */
function place({ cwd }: { cwd: string }): { branch?: string | undefined } {
  return { branch: gitPlace(cwd).branch };
}

/** Reading the inbox counts as read-only: it only records that the messages were shown, as the skill tool does. */
const reads = toolMaker("read", { readOnlyHint: true, openWorldHint: false });

export const agentTools: readonly Tool[] = [
  writes(
    "send_message",
    "Message agents by name; @names in the text get it too.",
    { to: needed(TEXTS), text: needed(TEXT), about: hidden(TEXT) },
    ({ about: subject, ...message }, parts) => sendMessage({ ...message, subject, ...place(parts) }, parts),
    ({ id, to }) => answer({ id, to }),
  ),
  reads(
    "get_inbox",
    "Your unread messages; showing marks them read.",
    { agent: TEXT, include_read: FLAG, limit: hidden(COUNT), max_tokens: hidden(COUNT) },
    async ({ maxTokens = INBOX_TOKENS, ...query }, parts) => {
      const { messages, leftOut } = await readInbox({ ...query, maxTokens, ...place(parts) }, parts);
      const more = query.includeRead ? "a larger limit or max_tokens" : "call it again";
      return answerLines([
        messages.length === 0 && "no messages",
        ...messages.map(messageLine),
        leftOut > 0 && `${leftOut} left out; ${more}`,
      ]);
    },
  ),
  reads(
    "wake",
    "What you, or an agent, need to continue.",
    { agent: TEXT, task_id: TEXT, max_tokens: COUNT, session_id: hidden(TEXT) },
    ({ maxTokens: budgetTokens, ...query }, parts, call) => {
      call.parts.skills.checkNow();
      return wakeAgent({ ...query, budgetTokens, client: call.client, ...place(parts) }, parts);
    },
    ({ packet }) => ({ text: packet.text }),
  ),
  reads(
    "list_agents",
    "Agents by name, with role and branch.",
    {
      ...{ limit: hidden(COUNT), offset: hidden(COUNT), max_tokens: hidden(COUNT) },
      fields: hidden({ type: "string", enum: FIELD_SETS }),
    },
    async ({ fields, ...query }, parts) => {
      const line = isMinimal(fields) ? agentLine : undefined;
      return answerList("agents", await listAgents({ ...query, text: line }, parts), { line });
    },
  ),
];

function agentLine({ name, role, branch }: { [field: string]: unknown }): string {
  const facts = [role, branch].filter(Boolean);
  return `${name}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`;
}

function messageLine({ id, from, isPerson, at, subject, text, readAt }: Inbox["messages"][number]): string {
  const facts = [
    `from ${from}${isPerson ? ", the user" : ""}`,
    moment(at),
    subject && `about ${subject}`,
    readAt && "read",
  ];
  return entry(`${id} ${facts.filter(Boolean).join(", ")}`, text);
}
