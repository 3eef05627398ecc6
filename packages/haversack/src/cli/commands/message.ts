/** Messages between agents. */
import { cleanLine, stripControl } from "../../base/clean-text.ts";
import { HaversackError, isFault } from "../../base/errors.ts";
import { readInbox, sendMessage } from "../../engine/wake/messages.ts";
import { readyAgent } from "../../engine/wake/prompt-agent.ts";
import { type Message, mentionsIn, speakerOf } from "../../wake/text.ts";
import {
  type Call,
  type Command,
  type ExitCode,
  eachOne,
  flag,
  jsonLine,
  option,
  print,
  sayError,
  sayNote,
  wholeNumber,
} from "../command.ts";
import { block, commandLine, formatAgo } from "../print-work.ts";
import { paint, wrapColumns } from "../terminal.ts";
import { BRANCH, branchOf, startReady, wakeParts } from "../wake.ts";
import { inputOf, type OpenWork, openWork, readText } from "../work.ts";
import { AGENT } from "../work-options.ts";

const messageSend: Command = {
  spec: {
    about:
      "Sends a message to agents. Whoever the text names with an @ gets it too. A running session is shown it at its next prompt, tool call or stop, an idle agent when it is woken the next time, or now with --wake.",
    arguments: [
      {
        name: "@AGENT… TEXT",
        about: "names, then the text; - reads it from standard input",
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
    examples: [
      { run: 'haversack agent message @backend @june "The key is in the vault now"', says: "to two agents" },
      { run: 'haversack agent message @backend "Rebase, please" --wake', says: "and start backend if it is idle" },
    ],
    json: "{id, to}: to are the names of all who get it.",
  },
  async run(call) {
    const work = await openWork(call, "save");
    const { to, text: given } = await splitWords(call.arguments, work);
    const text = (await readText(call, given)) ?? "";
    if (to.length === 0 && mentionsIn(text).length === 0) {
      throw new HaversackError("usage", "name at least one agent with an @", {
        hint: 'as in `haversack agent message @backend "…"`',
      });
    }
    if (call.options["wake"] && call.json)
      throw new HaversackError("usage", "--wake and --json cannot be used together");
    const subject = call.options["about"] as string | undefined;
    const sent = await sendMessage({ to, text, subject, branch: branchOf(call) }, work);
    const names = sent.to.map((name) => `@${name}`).join(", ");
    print(call, { id: sent.id, to: sent.to }, () => `Sent ${sent.id} to ${names}.`);
    return call.options["wake"] ? wakeAll(call, work, sent) : 0;
  },
};

/** Splits the leading names from the text. If no name has an @, the first word may be an agent's name. */
async function splitWords(words: readonly string[], { store }: OpenWork): Promise<{ to: string[]; text: string }> {
  const end = words.findIndex((word) => !/^@\S+$/.test(word));
  if (end < 0)
    throw new HaversackError("usage", "the text is missing", { hint: "it comes after the names, in quotes" });
  const text = words.slice(end).join(" ");
  const [first = "", ...rest] = words;
  const isBare = end === 0 && rest.length > 0 && mentionsIn(text).length === 0;
  if (isBare && (await store.listAgents()).some(({ name }) => name === first)) {
    return { to: [first], text: rest.join(" ") };
  }
  return { to: words.slice(0, end), text };
}

/** Returns the first exit code that is not 0; all results are printed. */
async function wakeAll(
  call: Call,
  work: OpenWork,
  sent: { id: string; to: readonly string[]; text: string },
): Promise<ExitCode> {
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

type Input = Parameters<typeof readInbox>[0];

const inboxList: Command = {
  spec: {
    about: "Shows the unread messages of agents, oldest first. Marks them as read, unless you use --keep-unread.",
    arguments: [{ name: "AGENT", about: "names, with or without @ (default: HAVERSACK_AGENT)", many: true }],
    options: {
      all: flag("Include read messages, newest first."),
      "keep-unread": flag("Only look: nothing is marked as read."),
      limit: wholeNumber("N", "How many (default 20)."),
      branch: BRANCH,
    },
    examples: [
      { run: "haversack agent inbox backend --keep-unread", says: "look, and leave them for the agent" },
      { run: "haversack agent inbox --all --limit 5", says: "the last five, as the agent itself" },
    ],
    json: "[{id, from, from_user?, at, about?, text, read_at?}]. If some are left out, a note says how to get them.",
  },
  run: eachOne(
    async (call): Promise<ExitCode> => {
      const work = await openWork(call, "read");
      const { io, json } = call;
      const [agent] = call.arguments;
      const options = inputOf<Input>(call, "all", "keep-unread", "limit");
      const box = await readInbox({ agent, branch: branchOf(call), ...options }, work);
      const { messages, views, total, leftOut } = box;
      if (json) io.out(jsonLine(views));
      else if (messages.length === 0) {
        io.out(`No ${options.includeRead ? "" : "unread "}messages for @${box.agent.name}.\n`);
      } else io.out(`${messages.map((message) => formatMessage(call, message, work.by.at)).join("\n\n")}\n`);
      if (leftOut > 0) {
        // Shown messages are now read, so the same command shows the next ones.
        const isNext = !options.includeRead && !options.keepUnread;
        const more = commandLine(call, isNext ? {} : { limit: total });
        const line = `${messages.length} of ${total} messages; \`${more}\` shows ${isNext ? "the next" : "all"}`;
        if (json) sayNote(io, line);
        else io.out(`\n${line}.\n`);
      }
      return 0;
    },
    { isList: true },
  ),
};

function formatMessage(
  { io }: Call,
  { id, from, isPerson = false, at, subject, text, readAt }: Message,
  now: Date,
): string {
  const about = subject === undefined ? "" : `, about ${cleanLine(subject)}`;
  const head = `${id}  ${paint(io, "bold", speakerOf({ from: cleanLine(from), isPerson }))}, ${formatAgo(at, now)}${about}${readAt ? ", read" : ""}`;
  return wrapColumns(`${head}\n${block(stripControl(text).trimEnd())}`, io.width);
}

export const commands: Readonly<Record<string, Command>> = {
  "agent message": messageSend,
  "agent inbox": inboxList,
};
