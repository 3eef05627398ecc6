import { cleanLine, stripControl } from "../../base/clean-text.ts";
import { readInbox } from "../../engine/wake/messages.ts";
import { type Message, speakerOf } from "../../wake/message.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { block, commandLine, formatAgo } from "../print-work.ts";
import { paint } from "../terminal.ts";
import { BRANCH, branchOf } from "../wake.ts";
import { inputOf, readWork } from "../work.ts";

export const spec: CommandSpec = {
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
};

type Input = Parameters<typeof readInbox>[0];

export function run(call: Call): Promise<ExitCode> {
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
}

function formatMessage(
  { io }: Call,
  { id, from, isPerson = false, at, subject, text, readAt }: Message,
  now: Date,
): string {
  const about = subject === undefined ? "" : `, about ${cleanLine(subject)}`;
  const head = `${id}  ${paint(io, "bold", speakerOf({ from: cleanLine(from), isPerson }))}, ${formatAgo(at, now)}${about}${readAt ? ", read" : ""}`;
  return `${head}\n${block(stripControl(text).trimEnd())}`;
}
