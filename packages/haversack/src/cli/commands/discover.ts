import { HaversackError } from "../../base/errors.ts";
import { type Discovery, discover } from "../../engine/discover.ts";
import { offReason } from "../../engine/project.ts";
import { PROFILES, profileOf } from "../../skills/showing/activation.ts";
import { type Call, type CommandSpec, type ExitCode, flag, option, print, sayNote, sayWarning } from "../command.ts";
import { type PromptInput, readPromptInput } from "../prompt-input.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about:
    "Takes a prompt as words or on standard input (plain text, or a client's hook JSON) and prints what the model would receive: nothing, names, or recommendations. What was shown is remembered for the session. Without --session all calls share one, named cli, so the same prompt twice prints names only.",
  arguments: [
    { name: "PROMPT", about: "what somebody asks; without it, or as -, it is read from standard input", many: true },
  ],
  options: {
    session: option("ID", 'The session it belongs to (default: the hook JSON\'s, else "cli").'),
    "sub-agent": option("ID", "The sub-agent in that session."),
    client: option("NAME", "Write it for this client (default: claude-code for its hook JSON, else plain).", {
      choices: Object.keys(PROFILES),
    }),
    rules: option("FILE", "Use this skill-rules.json instead of the project's."),
    "task-type": option("TYPE", "The type of the task at hand, for rules that depend on it."),
    role: option("ROLE", "The agent's role, for rules that depend on it."),
    force: flag("Recommend skills again that were already shown."),
  },
  oldOptions: { agent: "sub-agent" },
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
    // A script or hook accepts empty output; a person expects an answer.
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
    if (io.isTerminal) sayNote(io, off);
    print(call, [], () => "");
    return 0;
  }
  // Somebody who passes --rules wants to know if the file cannot be used.
  if (options["rules"] !== undefined) {
    for (const { level, code, file, text } of open.problems)
      if (level === "error" && code.startsWith("rule")) sayWarning(io, `${file}: ${text}`);
  }
  const sessionId = (options["session"] as string | undefined) ?? input.sessionId ?? "cli";
  if (sessionId === "") throw new HaversackError("usage", "--session needs an id");
  const found = discover(
    {
      sessionId,
      agentId: (options["sub-agent"] as string | undefined) ?? input.agentId ?? "",
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
    sayWarning(io, `the pattern /${source}/ took too long and is left out from now on`);
  print(call, found.skills, () => found.text, { isVerbatim: true });
  if (io.isTerminal && !call.json) noteSilence(call, found, sessionId);
  return 0;
}

/** Tells a person why there is no answer; scripts and clients accept empty output. */
function noteSilence({ io }: Call, { text, skills }: Discovery, sessionId: string): void {
  if (text !== "") return;
  const known = skills.filter(({ verdict }) => verdict.startsWith("silent: ")).map(({ id }) => id);
  sayNote(
    io,
    known.length > 0
      ? `the session "${sessionId}" has been shown ${known.join(", ")} already; --force shows it again, --session NEW starts another session`
      : "no skill fits; `haversack skill list` shows all, --json what came close",
  );
}
