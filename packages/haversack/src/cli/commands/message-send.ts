import { HaversackError, isFault } from "../../base/errors.ts";
import { sendMessage } from "../../engine/wake/messages.ts";
import { readyAgent } from "../../engine/wake/prompt-agent.ts";
import { mentionsIn } from "../../wake/message.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { startReady } from "../prompt.ts";
import { BRANCH, branchOf, wakeParts } from "../wake.ts";
import { type OpenWork, readText, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Sends a message to agents. Whoever the text names with an @ gets it too. A running session is shown it at its next prompt, tool call or stop, an idle agent when it is woken the next time, or now with --wake.",
  arguments: [
    { name: "@AGENT… TEXT", about: "names, then the text; - reads it from standard input", required: true, many: true },
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
};

export function run(call: Call): Promise<ExitCode> {
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
}

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
