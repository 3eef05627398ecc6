import { HaversackError } from "../../base/errors.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about: "Forgets what a session has been shown of skills, so that its next prompt is treated as its first.",
  arguments: [{ name: "ID", about: "the session", required: true }],
  examples: [{ run: "haversack session reset s1", says: "the next prompt gets the full format" }],
  json: "{sessionId, agents}: how many agents of that session were reset.",
};

export function run(call: Call): ExitCode {
  const [sessionId = ""] = call.arguments;
  const agents = openSkills(call, { refresh: false }).ledger.reset(sessionId);
  if (agents === 0)
    throw new HaversackError("not-found", `no session ${sessionId} was seen here`, {
      hint: "`haversack session list` shows them",
    });
  print(call, { sessionId, agents }, () => `Session ${sessionId} starts anew.`);
  return 0;
}
