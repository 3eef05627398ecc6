/** Shared by the commands that wake agents: skills, settings, client, branch, and starting a client. */
import { gitPlace } from "../base/project-root.ts";
import { claudeProfile } from "../clients/claude-code/adapter.ts";
import { codexProfile } from "../clients/codex/adapter.ts";
import { geminiProfile } from "../clients/gemini/adapter.ts";
import { deferredIn } from "../clients/opencode/own-config.ts";
import { opencodeProfile } from "../clients/opencode/profile.ts";
import type { Environment } from "../engine/project.ts";
import { notePrompted, type PromptParts, type ReadyAgent } from "../engine/wake/prompt-agent.ts";
import { type ClientProfile, PROFILES, profileOf } from "../skills/showing/activation.ts";
import { type ArgumentSpec, type Call, type ExitCode, option, sayNote, wholeNumber } from "./command.ts";
import { openSkills } from "./skills.ts";
import { clientCommand, isRunning, runClient } from "./start-client.ts";
import type { OpenWork } from "./work.ts";

export const AGENT_NAME: ArgumentSpec = { name: "AGENT", about: "its name, with or without @", required: true };

export const CLIENT = option("NAME", "The client that reads it (default: the agent's own, else plain).", {
  choices: Object.keys(PROFILES),
});

export const BRANCH = option(
  "NAME",
  "If several agents share the name, the one on this branch (default: the current branch).",
);

export const BUDGET = wholeNumber("N", "At most N tokens, estimated (default: what the client takes).", {
  maximum: 1_000_000,
});

export function wakeParts(call: Pick<Call, "io" | "json">, work: OpenWork): PromptParts {
  return {
    ...work,
    index: openSkills(call).index,
    profile: (client) => PROFILE_OF[client]?.(work.paths.root, call.io.env) ?? profileOf(client),
    isAlive: isRunning,
  };
}

/** The profile of each client, with what this project adds. */
const PROFILE_OF: Readonly<Record<string, (root: string, env: Environment) => ClientProfile>> = {
  "claude-code": claudeProfile,
  codex: codexProfile,
  gemini: geminiProfile,
  opencode: (root) => opencodeProfile((name) => deferredIn(root).includes(name)),
};

/** If several agents share a name, the one on this branch is meant. */
export function branchOf({ options, io }: Pick<Call<{ branch?: string }>, "options" | "io">): string | undefined {
  return options.branch ?? gitPlace(io.cwd).branch;
}

/** Returns the client's own exit code. */
export async function startReady(
  call: Pick<Call<{ client?: string }>, "options" | "io" | "rest">,
  ready: ReadyAgent,
  parts: PromptParts,
): Promise<ExitCode> {
  const { agent, woken, resume, cwd } = ready;
  const client = call.options.client ?? agent.client ?? "claude-code";
  const command = clientCommand({ client, resume, args: call.rest ?? [] }, call.io.env);
  const what =
    resume === undefined ? `starting a session for @${agent.name}` : `resuming @${agent.name}'s session ${resume}`;
  sayNote(call.io, ...woken.packet.problems, `${what} in ${cwd}`);
  const code = await runClient(command, {
    cwd,
    env: call.io.env,
    agent: agent.name,
    prompt: woken.packet.text,
    onStart: () => notePrompted(ready, parts, new Date()),
  });
  return code as ExitCode;
}
