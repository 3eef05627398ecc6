/** Tools of agents for `--tools all`: who there is, what they say to one another, and what one needs to go on. */
import { gitPlace } from "../base/git-place.ts";
import { listAgents } from "../engine/wake/agents.ts";
import { wakeSettings } from "../engine/wake/gather-wake.ts";
import { type Inbox, readInbox, sendMessage } from "../engine/wake/messages.ts";
import { wakeAgent } from "../engine/wake/wake-agent.ts";
import { FIELD_SETS } from "../engine/work/words.ts";
import { defineTool, type Tool } from "./tool.ts";
import { answer, answerLines, answerList, entry, isMinimal, moment, reading, refusal, writing } from "./work-answer.ts";

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer" } as const;
const FLAG = { type: "boolean" } as const;
const READS = { readOnlyHint: true, openWorldHint: false } as const;

/** More than the longest message of plain English has. */
const INBOX_TOKENS = 8000;

/** Of agents of one name the one on the server's branch is meant. */
function place({ cwd }: { cwd: string }): { branch?: string | undefined } {
  return { branch: gitPlace(cwd).branch };
}

const send = defineTool({
  name: "send_message",
  description: "Message agents by name; @names in the text get it too.",
  inputSchema: {
    type: "object",
    properties: { to: { type: "array", items: { type: "string" } }, text: TEXT },
    required: ["to", "text"],
  },
  unlisted: { about: TEXT },
  annotations: { destructiveHint: false, openWorldHint: false },
  set: "all",
  run: ({ to, text, about: subject }, call) =>
    writing(call, async (parts) => {
      const sent = await sendMessage({ to, text, subject, ...place(parts) }, parts);
      return answer({ id: sent.id, to: sent.to });
    }),
});

const inbox = defineTool({
  name: "get_inbox",
  description: "Your unread messages; showing marks them read.",
  inputSchema: { type: "object", properties: { agent: TEXT, include_read: FLAG } },
  unlisted: { limit: COUNT, max_tokens: COUNT },
  // As with skills: that it was shown is kept, nothing else changes.
  annotations: READS,
  set: "all",
  run: ({ agent, include_read: includeRead, limit, max_tokens: maxTokens = INBOX_TOKENS }, call) =>
    writing(call, async (parts) => {
      const { messages, leftOut } = await readInbox({ agent, includeRead, limit, maxTokens, ...place(parts) }, parts);
      const more = includeRead ? "a larger limit or max_tokens" : "call it again";
      return answerLines([
        messages.length === 0 && "no messages",
        ...messages.map(messageLine),
        leftOut > 0 && `${leftOut} left out; ${more}`,
      ]);
    }),
});

const wake = defineTool({
  name: "wake",
  description: "What you, or an agent, need to go on.",
  inputSchema: { type: "object", properties: { agent: TEXT, task_id: TEXT, max_tokens: COUNT } },
  unlisted: { session_id: TEXT },
  annotations: READS,
  set: "all",
  run: ({ agent, task_id: taskId, max_tokens: budgetTokens, session_id: sessionId }, call) =>
    reading(call, async (parts) => {
      call.parts.skills.checkNow();
      const { paths, config } = parts;
      const woken = await wakeAgent(
        { agent, taskId, sessionId, budgetTokens, client: call.client, ...place(parts) },
        { ...parts, root: paths.root, userState: paths.userState, wake: wakeSettings(config) },
      );
      return woken.kind === "nothing" ? refusal(woken) : { text: woken.packet.text };
    }),
});

const list = defineTool({
  name: "list_agents",
  description: "Agents by name, with role and branch.",
  inputSchema: { type: "object", properties: {} },
  unlisted: { limit: COUNT, offset: COUNT, max_tokens: COUNT, fields: { type: "string", enum: FIELD_SETS } },
  annotations: READS,
  set: "all",
  run: ({ limit, offset, max_tokens: maxTokens, fields }, call) =>
    reading(call, async (parts) => {
      const line = isMinimal(fields) ? agentLine : undefined;
      return answerList("agents", await listAgents({ limit, offset, maxTokens, text: line }, parts), { line });
    }),
});

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

export const agentTools: readonly Tool[] = [send, inbox, wake, list];
