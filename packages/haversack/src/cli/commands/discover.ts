import { HaversackError } from "../../base/errors.ts";
import { discover } from "../../engine/discover.ts";
import { offReason } from "../../engine/project.ts";
import { PROFILES, profileOf } from "../../skills/activation.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { readPromptInput } from "../prompt-input.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about:
    "Takes a prompt on standard input (plain text, or a client's hook JSON) and prints what the model would receive: nothing, names, or recommendations. What was shown is remembered for the session: without --session all calls share one, named cli, so the same prompt twice brings names.",
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
    { run: 'echo "add a database migration" | haversack discover', says: "what a model would see" },
    { run: "haversack discover --session s1 --json < hook-payload.json", says: "a client's own payload" },
  ],
  json: "[{id, name, confidence, reasons: [{feature, text, strength}], parts, disclosure: full|name|body|none, verdict}], best first.",
};

export async function run(call: Call): Promise<ExitCode> {
  const { io, options } = call;
  const text = await io.readStdin();
  if (text.trim() === "") {
    if (io.isTerminal) io.err("haversack: no prompt came in; it is read from standard input\n");
    print(call, [], () => "");
    return 0;
  }
  const input = readPromptInput(text);
  if (input.kind === "not-a-prompt") {
    print(call, [], () => "");
    return 0;
  }
  const open = openSkills(call, { ...(options["rules"] !== undefined && { rulesFile: String(options["rules"]) }) });
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
  return 0;
}
