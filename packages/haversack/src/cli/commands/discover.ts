import { HaversackError } from "../../base/errors.ts";
import { type Discovery, discover } from "../../engine/discover.ts";
import { offReason } from "../../engine/project.ts";
import { PROFILES, profileOf } from "../../skills/showing/activation.ts";
import { defineCommand, flag, option, sayNote, sayWarning } from "../command.ts";
import { type PromptInput, readPromptInput } from "../prompt-input.ts";
import { openSkills } from "../skills.ts";

export const command = defineCommand({
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
  examples: {
    'haversack discover "add a database migration"': "what a model would see",
    "haversack discover < prompt.txt": "a long one",
    "haversack discover --session s1 --json < hook-payload.json": "a client's own payload",
  },
  json: "[{id, name, confidence, reasons: [{feature, text, strength}], parts, disclosure: full|name|body|none, verdict}], best first.",
  async run(call) {
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
      return { data: [], text: "" };
    }
    const input: PromptInput = isTyped ? { kind: "prompt", prompt: words } : readPromptInput(text);
    if (input.kind === "not-a-prompt") return { data: [], text: "" };
    const { rules, role, session, "task-type": taskType, force: forceRecommend = false } = options;
    const open = openSkills(call, { store: "keep", ...(rules !== undefined && { rulesFile: rules }) });
    const off = offReason(open.paths, io.env);
    if (off) {
      if (io.isTerminal) sayNote(io, off);
      return { data: [], text: "" };
    }
    // Somebody who passes --rules wants to know if the file cannot be used.
    if (rules !== undefined) {
      for (const { level, code, file, text } of open.problems)
        if (level === "error" && code.startsWith("rule")) sayWarning(io, `${file}: ${text}`);
    }
    const sessionId = session ?? input.sessionId ?? "cli";
    if (sessionId === "") throw new HaversackError("usage", "--session needs an id");
    const found = discover(
      {
        sessionId,
        agentId: options["sub-agent"] ?? input.agentId ?? "",
        client: { ...profileOf(options.client ?? input.client ?? "plain"), session: sessionId },
        cwd: input.cwd ?? io.cwd,
        root: open.paths.root,
        prompt: input.prompt,
        at: new Date(),
        env: io.env,
        forceRecommend,
        readHead: open.readHead,
        ...(taskType !== undefined && { taskType }),
        ...(role !== undefined && { role }),
      },
      open,
    );
    for (const source of found.slowPatterns)
      sayWarning(io, `the pattern /${source}/ took too long and is left out from now on`);
    const isSilent = found.text === "" && io.isTerminal && !call.json;
    const notes = isSilent ? [whySilent(found, sessionId)] : [];
    return { data: found.skills, text: found.text, isVerbatim: true, notes };
  },
});

/** Tells a person why there is no answer; scripts and clients accept empty output. */
function whySilent({ skills }: Discovery, sessionId: string): string {
  const known = skills.filter(({ verdict }) => verdict.startsWith("silent: ")).map(({ id }) => id);
  return known.length > 0
    ? `the session "${sessionId}" has been shown ${known.join(", ")} already; --force shows it again, --session NEW starts another session`
    : "no skill fits; `haversack skill list` shows all, --json what came close";
}
