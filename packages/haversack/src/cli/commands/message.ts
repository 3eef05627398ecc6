/** Messages between agents, and what wakes them. */

import { cleanLine, stripControl } from "../../base/clean-text.ts";
import { HaversackError, isFault } from "../../base/errors.ts";
import { findTemplates } from "../../engine/trust-project.ts";
import { listAgents } from "../../engine/wake/agents.ts";
import { readInbox, sendMessage } from "../../engine/wake/messages.ts";
import { previewPrompt, promptAgent, readyAgent } from "../../engine/wake/prompt-agent.ts";
import { wakeAgent } from "../../engine/wake/wake-agent.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { type Message, mentionsIn, speakerOf } from "../../wake/text.ts";
import { type Call, type ExitCode, flag, option, print, sayError, sayNote, wholeNumber } from "../command.ts";
import { block, commandLine, formatAgo } from "../print-work.ts";
import { paint, wrapColumns } from "../terminal.ts";
import { AGENT_NAME, BRANCH, BUDGET, branchOf, CLIENT, startReady, wakeParts } from "../wake.ts";
import { defineWork, inputOf, type OpenWork, readText } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const commands = {
  "agent message": defineWork("save", {
    about:
      "Sends a message to agents. Whoever the text names with an @ gets it too. A running session is shown it at its next prompt, tool call or stop, an idle agent when it is woken the next time, or now with --wake.",
    arguments: [
      {
        name: "@AGENT… TEXT",
        about: "names, then the text; - reads it from standard input. Without an @, all words but the last are names",
        required: true,
        many: true,
      },
    ],
    rest: { name: "ARGS", about: "with --wake: options for the client" },
    options: {
      wake: flag("Start those that are idle, one after the other, and wait for them."),
      about: option("ID", "The task, story or handoff that it is about."),
      branch: BRANCH,
      agent: { ...AGENT, about: "Who sends it (default: HAVERSACK_AGENT, else you)." },
    },
    examples: {
      'haversack agent message @backend @june "The key is in the vault now"': "to two agents",
      'haversack agent message @backend "Rebase, please" --wake': "and start backend if it is idle",
    },
    json: "{id, to}: to are the names of all who get it.",
    async run(call, work) {
      const { to, text: given } = await splitWords(call.arguments, work);
      const text = (await readText(call, given)) ?? "";
      if (to.length === 0 && mentionsIn(text).length === 0) {
        throw new HaversackError("usage", "name at least one agent with an @", {
          hint: 'as in `haversack agent message @backend "…"`',
        });
      }
      const { wake: isWaking, about: subject } = call.options;
      if (isWaking && call.json) throw new HaversackError("usage", "--wake and --json cannot be used together");
      const sent = await sendMessage({ to, text, subject, branch: branchOf(call) }, work);
      const names = sent.to.map((name) => `@${name}`).join(", ");
      await print(call, { data: { id: sent.id, to: sent.to }, text: `Sent ${sent.id} to ${names}.` });
      return isWaking ? wakeAll(call, work, sent) : 0;
    },
  }),
  "agent prompt": defineWork(({ options }) => (options.print ? "read" : "save"), {
    about:
      "Sends an agent a message and wakes it in its client (Claude Code, Codex, Gemini CLI or opencode): resumes its session headless, or starts a new one, with the packet as its prompt, and waits for it. Only this agent gets the message, whoever else it names. A session that still runs is left alone: the message reaches it at its next prompt, tool call or stop. Exit 1 then; else the client's own exit code. Give the client its permissions after --.",
    arguments: [AGENT_NAME, { name: "MESSAGE", about: "the text; - reads it from standard input", required: true }],
    rest: { name: "ARGS", about: "options for the client, such as --permission-mode acceptEdits" },
    options: {
      print: flag("Only print the packet with the message: nothing is stored, nobody is woken."),
      new: flag("Start a new session even if one could be resumed."),
      client: { ...CLIENT, about: "The client to start (default: the agent's own, else claude-code)." },
      budget: BUDGET,
      branch: BRANCH,
      agent: { ...AGENT, about: "Who sends it (default: HAVERSACK_AGENT, else you)." },
    },
    examples: {
      'haversack agent prompt backend "Check on task 2"': "stores it and resumes backend's session",
      'haversack agent prompt backend "Fix the test" -- --permission-mode acceptEdits': "with leave to edit",
      'haversack agent prompt backend "Check on task 2" --print': "what it would be given",
    },
    json: "only with --print: as for `haversack agent wake`.",
    async run(call, work) {
      const { print: isPreview, new: isNew, client, budget: budgetTokens } = call.options;
      const [agent = "", given = ""] = call.arguments;
      if (call.json && !isPreview) throw new HaversackError("usage", "--json needs --print: the client prints its own");
      const text = (await readText(call, given)) ?? "";
      const input = { agent, text, branch: branchOf(call), client, budgetTokens, isNew };
      const parts = wakeParts(call, work);
      if (isPreview) {
        const { view, packet } = await previewPrompt(input, parts);
        if (!call.json) sayNote(call.io, ...packet.problems);
        return { data: view, text: packet.text, isVerbatim: true };
      }
      const prompted = await promptAgent(input, parts);
      if (prompted.kind !== "running") return startReady(call, prompted, parts);
      return { text: `${prompted.text}; the message is sent and will reach it at its next event` };
    },
  }),
  "agent inbox": defineWork("read", {
    about: "Shows the unread messages of agents, oldest first. Marks them as read, unless you use --keep-unread.",
    arguments: [{ name: "AGENT", about: "names, with or without @ (default: HAVERSACK_AGENT)", many: true }],
    options: {
      all: flag("Include read messages, newest first."),
      "keep-unread": flag("Only look: nothing is marked as read."),
      limit: wholeNumber("N", "How many (default 20)."),
      branch: BRANCH,
    },
    examples: {
      "haversack agent inbox backend --keep-unread": "look, and leave them for the agent",
      "haversack agent inbox --all --limit 5": "the last five, as the agent itself",
    },
    json: "[{id, from, from_user?, at, about?, text, read_at?}]. If some are left out, a note says how to get them.",
    several: "list",
    async run(call, work) {
      const [agent] = call.arguments;
      const { all: includeRead, "keep-unread": keepUnread, limit } = call.options;
      const box = await readInbox({ agent, branch: branchOf(call), includeRead, keepUnread, limit }, work);
      const { messages, views, total, leftOut } = box;
      const none = `No ${includeRead ? "" : "unread "}messages for @${box.agent.name}.`;
      const text = () => messages.map((message) => formatMessage(call, message, work.by.at)).join("\n\n") || none;
      // Shown messages are now read, so the same command shows the next ones.
      const isNext = !includeRead && !keepUnread;
      const next = `\`${commandLine(call, isNext ? {} : { limit: total })}\` shows ${isNext ? "the next" : "all"}`;
      const more = leftOut > 0 ? `${messages.length} of ${total} messages; ${next}` : undefined;
      return { data: views, text, isVerbatim: true, more };
    },
  }),
  "agent wake": defineWork("read", {
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
  }),
};

/**
 * Splits the names from the text. If the first word has an @, the names are the words with an @ before the text. If not, all words but the
 * last are names: a word of the text must not be taken as a name, nor a name as text.
 */
async function splitWords(words: readonly string[], { store }: OpenWork): Promise<{ to: string[]; text: string }> {
  const isName = (word: string) => /^@\S+$/.test(word);
  const [first = ""] = words;
  const isBare = !isName(first) && words.length > 1;
  const end = isBare ? words.length - 1 : words.findIndex((word) => !isName(word));
  if (end < 0 || (isBare && isName(words[end] ?? "")))
    throw new HaversackError("usage", "the text is missing", { hint: "it comes after the names, in quotes" });
  const to = words.slice(0, end);
  if (isBare && end > 1) {
    const known = (await store.listAgents()).map(({ name }) => name);
    const unknown = to.find((word) => !known.includes(word.replace(/^@/, "")));
    if (unknown !== undefined)
      throw new HaversackError("not-found", `there is no agent "${cleanLine(unknown)}"`, {
        hint: `${known.length > 0 ? `there is @${known.slice(0, 5).join(", @")}; ` : ""}a text of several words needs quotes`,
      });
  }
  return { to, text: words.slice(end).join(" ") };
}

/** Returns the first exit code that is not 0; all results are printed. */
async function wakeAll(call: Call, work: OpenWork, sent: Awaited<ReturnType<typeof sendMessage>>): Promise<ExitCode> {
  const parts = wakeParts(call, work);
  const branch = branchOf(call);
  let code: ExitCode = 0;
  for (const name of sent.to) {
    const agent = await work.store.getAgent({ name, ...(branch !== undefined && { branch }) });
    const ready = await readyAgent(sent, { agent }, parts);
    if (ready.kind === "running") {
      sayNote(call.io, `${ready.text}; the message will reach it at its next event`);
      continue;
    }
    try {
      const ended = await startReady(call, ready, parts);
      if (code === 0) code = ended;
    } catch (error) {
      // If one agent's client is missing, still wake the others.
      if (!isFault(error)) throw error;
      sayError(call.io, `@${name}: ${error.message}`, error.hint);
      if (code === 0) code = 1;
    }
  }
  return code;
}

function formatMessage(
  { io }: Call,
  { id, from, isPerson = false, at, subject, text, readAt }: Message,
  now: Date,
): string {
  const about = subject === undefined ? "" : `, about ${cleanLine(subject)}`;
  const head = `${id}  ${paint(io, "bold", speakerOf({ from: cleanLine(from), isPerson }))}, ${formatAgo(at, now)}${about}${readAt ? ", read" : ""}`;
  return wrapColumns(`${head}\n${block(stripControl(text).trimEnd())}`, io.width);
}

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
