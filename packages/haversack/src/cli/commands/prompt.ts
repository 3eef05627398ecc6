import { HaversackError } from "../../base/errors.ts";
import { previewPrompt, promptAgent } from "../../engine/wake/prompt-agent.ts";
import { type Call, type CommandSpec, type ExitCode, flag, print, sayNote } from "../command.ts";
import { AGENT_NAME, BRANCH, BUDGET, branchOf, CLIENT, startReady, wakeParts } from "../wake.ts";
import { inputOf, openWork, readText, refuse } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
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
  examples: [
    { run: 'haversack agent prompt backend "Check on task 2"', says: "stores it and resumes backend's session" },
    {
      run: 'haversack agent prompt backend "Fix the test" -- --permission-mode acceptEdits',
      says: "with leave to edit",
    },
    { run: 'haversack agent prompt backend "Check on task 2" --print', says: "what it would be given" },
  ],
  json: "only with --print: as for `haversack agent wake`.",
};

type Input = Parameters<typeof promptAgent>[0];

export async function run(call: Call): Promise<ExitCode> {
  const isPreview = call.options["print"] === true;
  const work = await openWork(call, isPreview ? "read" : "save");
  const [agent = "", given = ""] = call.arguments;
  if (call.json && !isPreview) throw new HaversackError("usage", "--json needs --print: the client prints its own");
  const text = (await readText(call, given)) ?? "";
  const options = inputOf<Input>(call, "client", "budget", "new");
  const input = { agent, text, branch: branchOf(call), ...options };
  const parts = wakeParts(call, work);
  if (isPreview) {
    const { view, packet } = await previewPrompt(input, parts);
    if (!call.json) sayNote(call.io, ...packet.problems);
    print(call, view, () => packet.text, { isVerbatim: true });
    return 0;
  }
  const prompted = await promptAgent(input, parts);
  if (prompted.kind === "running") {
    return refuse(call, { text: `${prompted.text}; the message is sent and will reach it at its next event` });
  }
  return startReady(call, prompted, parts);
}
