import { HaversackError } from "../../base/errors.ts";
import { type Discovery, discover } from "../../engine/discover.ts";
import { offReason } from "../../engine/project.ts";
import { PROFILES, profileOf } from "../../skills/showing/activation.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { type PromptInput, readPromptInput } from "../prompt-input.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about:
    "Takes a prompt as words or on standard input (plain text, or a client's hook JSON) and prints what the model would receive: nothing, names, or recommendations. What was shown is remembered for the session: without --session all calls share one, named cli, so the same prompt twice brings names.",
  arguments: [
    { name: "PROMPT", about: "what somebody asks; without it, or as -, it is read from standard input", many: true },
  ],
  options: {
    session: {
      type: "string",
      value: "ID",
      about: 'The session it belongs to (default: the hook JSON\'s, else "cli").',
    },
    agent: { type: "string", value: "ID", about: "The sub-agent in that session." },
    client: {
      type: "string",
      value: "NAME",
      choices: Object.keys(PROFILES),
      about: "Word it for this client (default: claude-code for its hook JSON, else plain).",
    },
    rules: { type: "string", value: "FILE", about: "Use this skill-rules.json instead of the project's." },
    "task-type": { type: "string", value: "TYPE", about: "The type of the task at hand, for rules that ask." },
    role: { type: "string", value: "ROLE", about: "The agent's role, for rules that ask." },
    force: { type: "boolean", about: "Recommend again what was shown already." },
  },
  examples: [
    { run: 'haversack discover "add a database migration"', says: "what a model would see" },
    { run: "haversack discover < prompt.txt", says: "a long one" },
    { run: "haversack discover --session s1 --json < hook-payload.json", says: "a client's own payload" },
  ],
  json: "[{id, name, confidence, reasons: [{feature, text, strength}], parts, disclosure: full|name|body|none, verdict}], best first.",
};

export async function run(call: Call): Promise<ExitCode> {
  const { io, options } = call;
  const words = call.arguments.join(" ");
  const isTyped = words !== "" && words !== "-";
  const text = isTyped ? words : await io.readStdin();
  if (text.trim() === "") {
    // For a script or a hook nothing is an answer; a person waits for one.
    if (io.isTerminal || process.stdin.isTTY) {
      throw new HaversackError("usage", "no prompt came on standard input", {
        hint: 'type it: `haversack discover "fix the test"`',
      });
    }
    print(call, [], () => "");
    return 0;
  }
  const input: PromptInput = isTyped ? { kind: "prompt", prompt: words } : readPromptInput(text);
  if (input.kind === "not-a-prompt") {
    print(call, [], () => "");
    return 0;
  }
  const open = openSkills(call, {
    store: "keep",
    ...(options["rules"] !== undefined && { rulesFile: String(options["rules"]) }),
  });
  const off = offReason(open.paths, io.env);
  if (off) {
    if (io.isTerminal) io.err(`haversack: ${off}\n`);
    print(call, [], () => "");
    return 0;
  }
  // Who names a file wants to know when it cannot be used.
  if (options["rules"] !== undefined) {
    for (const { level, code, file, text } of open.problems)
      if (level === "error" && code.startsWith("rule")) io.err(`haversack: warning: ${file}: ${text}\n`);
  }
  const sessionId = (options["session"] as string | undefined) ?? input.sessionId ?? "cli";
  if (sessionId === "") throw new HaversackError("usage", "--session needs an id");
  const found = discover(
    {
      sessionId,
      agentId: (options["agent"] as string | undefined) ?? input.agentId ?? "",
      client: {
        ...profileOf((options["client"] as string | undefined) ?? input.client ?? "plain"),
        session: sessionId,
      },
      cwd: input.cwd ?? io.cwd,
      root: open.paths.root,
      prompt: input.prompt,
      at: new Date(),
      env: io.env,
      forceRecommend: options["force"] === true,
      readHead: open.readHead,
      ...(options["task-type"] !== undefined && { taskType: String(options["task-type"]) }),
      ...(options["role"] !== undefined && { role: String(options["role"]) }),
    },
    open,
  );
  for (const source of found.slowPatterns)
    io.err(`haversack: warning: the pattern /${source}/ took too long and is left out from now on\n`);
  print(call, found.skills, () => found.text);
  if (io.isTerminal && !call.json) noteSilence(call, found, sessionId);
  return 0;
}

/** A person who gets no answer wants to know why; a script or a client takes silence for an answer. */
function noteSilence({ io }: Call, { text, skills }: Discovery, sessionId: string): void {
  if (text !== "") return;
  const known = skills.filter(({ verdict }) => verdict.startsWith("silent: ")).map(({ id }) => id);
  io.err(
    known.length > 0
      ? `haversack: note: the session "${sessionId}" has been shown ${known.join(", ")} already; --force shows it again, --session NEW begins another session\n`
      : "haversack: note: no skill fits; `haversack skills list` shows all, --json what came near\n",
  );
}
