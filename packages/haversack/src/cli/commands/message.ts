/** Messages between agents. */
import { cleanLine, stripControl } from "../../base/clean-text.ts";
import { HaversackError, isFault } from "../../base/errors.ts";
import { readInbox, sendMessage } from "../../engine/wake/messages.ts";
import { readyAgent } from "../../engine/wake/prompt-agent.ts";
import { type Message, mentionsIn, speakerOf } from "../../wake/message.ts";
import { type Call, type Command, type ExitCode, print } from "../command.ts";
import { block, commandLine, formatAgo } from "../print-work.ts";
import { paint } from "../terminal.ts";
import { BRANCH, branchOf, startReady, wakeParts } from "../wake.ts";
import { inputOf, type OpenWork, readText, readWork, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const messageSend: Command = {
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
      wake: { type: "boolean", about: "Start those that are idle, one after the other, and wait for them." },
      about: { type: "string", value: "ID", about: "The task, story or handoff that it is about." },
      branch: BRANCH,
      agent: { ...AGENT, about: "Who sends it (default: HAVERSACK_AGENT, else you)." },
    },
    examples: [
      { run: 'haversack message send @backend @june "The key is in the vault now"', says: "to two agents" },
      { run: 'haversack message send @backend "Rebase, please" --wake', says: "and start backend if it is idle" },
    ],
    json: "{id, to}: to are the names of all who get it.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const { to, text: given } = splitWords(call.arguments);
      const text = (await readText(call, given)) ?? "";
      if (to.length === 0 && mentionsIn(text).length === 0) {
        throw new HaversackError("usage", "name at least one agent with an @", {
          hint: 'as in `haversack message send @backend "…"`',
        });
      }
      if (call.options["wake"] && call.json) throw new HaversackError("usage", "--wake and --json exclude each other");
      const subject = call.options["about"] as string | undefined;
      const sent = await sendMessage({ to, text, subject, branch: branchOf(call) }, work);
      const names = sent.to.map((name) => `@${name}`).join(", ");
      print(call, { id: sent.id, to: sent.to }, () => `Sent ${sent.id} to ${names}.`);
      return call.options["wake"] ? wakeAll(call, work, sent) : 0;
    });
  },
};

/** Leading names, and the rest as one text. */
function splitWords(words: readonly string[]): { to: string[]; text: string } {
  const end = words.findIndex((word) => !/^@\S+$/.test(word));
  if (end < 0)
    throw new HaversackError("usage", "the text is missing", { hint: "it comes after the names, in quotes" });
  return { to: words.slice(0, end), text: words.slice(end).join(" ") };
}

/** The first exit code that is not 0: what the others did is on the terminal. */
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
      call.io.err(`haversack: ${ready.text}; the message will reach it at its next event\n`);
      continue;
    }
    try {
      const ended = await startReady(call, ready, parts);
      if (code === 0) code = ended;
    } catch (error) {
      // One whose client is not there keeps none of the others asleep.
      if (!isFault(error)) throw error;
      call.io.err(`haversack: @${name}: ${error.message}${error.hint ? ` (${error.hint})` : ""}\n`);
      if (code === 0) code = 1;
    }
  }
  return code;
}

type Input = Parameters<typeof readInbox>[0];

export const inboxList: Command = {
  spec: {
    about:
      "Shows an agent's unread messages, oldest first. What it shows is read from then on, unless you keep it unread.",
    arguments: [{ name: "AGENT", about: "its name, with or without @ (default: HAVERSACK_AGENT)" }],
    options: {
      all: { type: "boolean", about: "Those that are read too, newest first." },
      "keep-unread": { type: "boolean", about: "Only look: nothing is marked as read." },
      limit: { type: "integer", value: "N", minimum: 1, about: "How many (default 20)." },
      branch: BRANCH,
    },
    examples: [
      { run: "haversack inbox backend --keep-unread", says: "look, and leave them for the agent" },
      { run: "haversack inbox --all --limit 5", says: "the last five, as the agent itself" },
    ],
    json: "[{id, from, from_user?, at, about?, text, read_at?}]. What was left out is said on standard error.",
  },
  run(call) {
    return readWork(call, async (work) => {
      const { io, json } = call;
      const [agent] = call.arguments;
      const options = inputOf<Input>(call, { includeRead: "all", keepUnread: "keep-unread", limit: "limit" });
      const box = await readInbox({ agent, branch: branchOf(call), ...options }, work);
      const { messages, views, total, leftOut } = box;
      if (json) io.out(`${JSON.stringify(views)}\n`);
      else if (messages.length === 0) {
        io.out(`No ${options.includeRead ? "" : "unread "}messages for @${box.agent.name}.\n`);
      } else io.out(`${messages.map((message) => formatMessage(call, message, work.by.at)).join("\n\n")}\n`);
      if (leftOut > 0) {
        // What was shown is read now: the same command shows the next ones.
        const isNext = !options.includeRead && !options.keepUnread;
        const more = commandLine("inbox", call, isNext ? {} : { limit: total });
        const line = `${messages.length} of ${total} messages; \`${more}\` shows ${isNext ? "the next" : "all"}`;
        if (json) io.err(`haversack: ${line}\n`);
        else io.out(`\n${line}.\n`);
      }
      return 0;
    });
  },
};

function formatMessage(
  { io }: Call,
  { id, from, isPerson = false, at, subject, text, readAt }: Message,
  now: Date,
): string {
  const about = subject === undefined ? "" : `, about ${cleanLine(subject)}`;
  const head = `${id}  ${paint(io, "bold", speakerOf({ from: cleanLine(from), isPerson }))}, ${formatAgo(at, now)}${about}${readAt ? ", read" : ""}`;
  return `${head}\n${block(stripControl(text).trimEnd())}`;
}
