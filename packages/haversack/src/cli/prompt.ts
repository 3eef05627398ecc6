/** Starts the client of an agent that is ready to be woken: what `prompt` and `message send --wake` share. */
import { notePrompted, type PromptParts, type ReadyAgent } from "../engine/wake/prompt-agent.ts";
import type { Call, ExitCode } from "./command.ts";
import { clientCommand, runClient } from "./start-client.ts";
import { noteLines } from "./wake.ts";

/** The client's own exit code. */
export async function startReady(call: Call, ready: ReadyAgent, parts: PromptParts): Promise<ExitCode> {
  const { agent, woken, resume, cwd } = ready;
  const client = (call.options["client"] as string | undefined) ?? agent.client ?? "claude-code";
  const command = clientCommand({ client, resume, args: call.rest ?? [] }, call.io.env);
  noteLines(call, [
    ...woken.packet.problems,
    `${resume === undefined ? `starting a session for @${agent.name}` : `resuming @${agent.name}'s session ${resume}`} in ${cwd}`,
  ]);
  const code = await runClient(command, {
    cwd,
    env: call.io.env,
    agent: agent.name,
    prompt: woken.packet.text,
    onStart: () => notePrompted(ready, parts, new Date()),
  });
  return code as ExitCode;
}
