/** What the commands that wake agents share: the skills, the settings, the client, the branch, and the start of a client. */
import { gitPlace } from "../base/git-place.ts";
import { claudeProfile } from "../clients/claude-code/profile.ts";
import { codexProfile } from "../clients/codex/profile.ts";
import { geminiProfile } from "../clients/gemini/profile.ts";
import { deferredIn } from "../clients/opencode/deferred-skills.ts";
import { opencodeProfile } from "../clients/opencode/profile.ts";
import type { Environment } from "../engine/project.ts";
import { wakeSettings } from "../engine/wake/gather-wake.ts";
import { notePrompted, type PromptParts, type ReadyAgent } from "../engine/wake/prompt-agent.ts";
import { type ClientProfile, PROFILES, profileOf } from "../skills/showing/activation.ts";
import type { ArgumentSpec, Call, ExitCode, OptionSpec } from "./command.ts";
import { openSkills } from "./skills.ts";
import { clientCommand, isRunning, runClient } from "./start-client.ts";
import type { OpenWork } from "./work.ts";

export const AGENT_NAME: ArgumentSpec = { name: "AGENT", about: "its name, with or without @", required: true };

export const CLIENT: OptionSpec = {
  type: "string",
  value: "NAME",
  choices: Object.keys(PROFILES),
  about: "The client that reads it (default: the agent's own, else plain).",
};

export const BRANCH: OptionSpec = {
  type: "string",
  value: "NAME",
  about: "Of agents of one name the one on this branch (default: the branch of the working folder).",
};

export const BUDGET: OptionSpec = {
  type: "integer",
  value: "N",
  minimum: 1,
  maximum: 1_000_000,
  about: "At most so many tokens, estimated (default: what the client takes).",
};

export function wakeParts(call: Call, work: OpenWork): PromptParts {
  const { root, userState } = work.paths;
  return {
    ...work,
    index: openSkills(call).index,
    root,
    userState,
    wake: wakeSettings(work.config),
    profile: (client) => PROFILE_OF[client]?.(root, call.io.env) ?? profileOf(client),
    isAlive: isRunning,
  };
}

/** Each with what is known of it in this project. */
const PROFILE_OF: Readonly<Record<string, (root: string, env: Environment) => ClientProfile>> = {
  "claude-code": claudeProfile,
  codex: codexProfile,
  gemini: geminiProfile,
  opencode: (root) => opencodeProfile((name) => deferredIn(root).includes(name)),
};

/** Where whoever asks is; of agents of one name that one is meant. */
export function branchOf({ options, io }: Call): string | undefined {
  return (options["branch"] as string | undefined) ?? gitPlace(io.cwd).branch;
}

/** Beside the packet: what its reader should know, on standard error. */
export function noteLines({ io }: Call, lines: readonly string[]): void {
  for (const line of lines) io.err(`haversack: note: ${line}\n`);
}

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
