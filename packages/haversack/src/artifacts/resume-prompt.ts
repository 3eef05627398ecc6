/**
 * Resumes a reviewer that already has the documents in its context: sends only the fixes and the diff. If that is impossible, or would
 * cost more than reading again, the dispatch is fresh and a note says so.
 */
import { cleanLine, stripControl } from "../base/clean-text.ts";
import { formatAnswerRequest } from "./answer-formats.ts";
import { quoteDocument } from "./quote-document.ts";
import { formatPreviousIssue, iterationOf, type PreviousIssue } from "./reference-block.ts";
import type { Role } from "./role-map.ts";

/** Stored per role: each role has its own chain. */
export interface ResumeState {
  agentId: string;
  /** The session of the sub-agent. Absent: unknown, or the agent is itself a session. */
  sessionId?: string;
  iteration1PromptChars: number;
  lastIteration: number;
}

export interface ResumeFacts {
  role: string;
  iteration: number;
  /** The user's setting. Default: off. */
  isEnabled: boolean;
  /** The client has been seen to resume a sub-agent that used tools. */
  canResume: boolean;
  state?: ResumeState | undefined;
  /** The calling session, if known: only a sub-agent's own session can wake it. */
  callerSession?: string | undefined;
  /** Size of the resume prompt. */
  deltaTokens: number;
  /** Size of the documents that a fresh dispatch would read. */
  referenceTokens: number;
  /** The error of a failed attempt. */
  failure?: string | undefined;
}

export type ResumeDecision =
  | { kind: "resume"; agentId: string }
  | {
      kind: "fresh";
      reason:
        | "first-iteration"
        | "off"
        | "client-cannot"
        | "no-state"
        | "iteration-skipped"
        | "other-session"
        | "failed"
        | "delta-too-large";
      /** A resume was expected: the prompt contains a note about it, and `line` goes into the review history. */
      isFallback: boolean;
      line?: string;
    };

export function decideResume(facts: ResumeFacts): ResumeDecision {
  const { iteration, isEnabled, canResume, state, callerSession, deltaTokens, referenceTokens, failure } = facts;
  if (iteration <= 1) return { kind: "fresh", reason: "first-iteration", isFallback: false };
  if (!isEnabled) return { kind: "fresh", reason: "off", isFallback: false };
  if (!canResume) return { kind: "fresh", reason: "client-cannot", isFallback: false };
  if (failure !== undefined) return fallback(facts, "failed", cleanLine(failure, { maxChars: 200 }) || "failed");
  if (!state) return fallback(facts, "no-state", "no agent is known from the iteration before");
  if (state.lastIteration !== iteration - 1) {
    // The agent has not seen the changes in between, and our diff does not contain them.
    return fallback(facts, "iteration-skipped", `the agent's last iteration was ${state.lastIteration}`);
  }
  if (state.sessionId !== undefined && callerSession !== undefined && state.sessionId !== callerSession) {
    return fallback(facts, "other-session", "its agent belongs to another session");
  }
  if (deltaTokens > referenceTokens) {
    return fallback(facts, "delta-too-large", `${deltaTokens} tokens of changes, ${referenceTokens} of documents`);
  }
  return { kind: "resume", agentId: state.agentId };
}

function fallback(
  { role, iteration }: ResumeFacts,
  reason: Extract<ResumeDecision, { kind: "fresh" }>["reason"],
  why: string,
): ResumeDecision {
  return { kind: "fresh", reason, isFallback: true, line: `RESUME-FALLBACK: ${role} iteration ${iteration} — ${why}` };
}

export interface ResumePromptInput {
  role: Pick<Role, "answer">;
  iteration: number;
  maxIterations: number;
  fixSummary: string;
  /** Issues that are open or accepted. The reviewer knows its findings but not the ids they were given. */
  previousIssues?: readonly PreviousIssue[];
  /** The output of `git diff --stat` and `git diff`. */
  diffStat: string;
  diff: string;
}

export function resumePrompt({
  role,
  iteration,
  maxIterations,
  fixSummary,
  previousIssues = [],
  diffStat,
  diff,
}: ResumePromptInput): string {
  const changes = [diffStat, diff]
    .map((text) => text.trimEnd())
    .filter(Boolean)
    .join("\n");
  const parts = [
    `Review iteration ${iterationOf(iteration, maxIterations)}. You already have the upstream artifacts\nin context from your previous review.`,
    "## Changes Since Last Review\nThe following changes were made to address your previous issues:",
    `### Fix Summary\n${stripControl(fixSummary).trim() || "None was given."}`,
    previousIssues.length === 0 ? "" : ["### Previous Issues", ...previousIssues.map(formatPreviousIssue)].join("\n"),
    `### Diff\n${changes === "" ? "No changes." : quoteDocument(changes, { language: "" })}`,
    "Review ONLY the changes above. Assess whether your previous issues\nare resolved and check for new issues introduced by the fixes.",
    formatAnswerRequest(role.answer, { hasPrevious: true }),
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

// How to resume an agent in a client: with a tool that the coordinator calls in its session, or with a command. Tested with real
// clients: Claude Code 2.1.325 wakes an ended sub-agent with `SendMessage` (its `Agent` tool no longer has `resume`). This works in the
// session that started it, even after that session was resumed; the answer arrives as a task notification. Codex 0.166.0 resumes whole
// sessions.

/** A sub-agent lives in its coordinator's session; a session is independent. */
export type ResumeWay = "sub-agent" | "session";

export interface ResumeCall {
  way: ResumeWay;
  agentId: string;
  /** The coordinator's tool. Its argument `message` is the prompt. */
  tool?: { name: string; to: string; summary: string };
  /** Words of a command that reads the prompt from standard input. */
  command?: string[];
  /** How to make the call, as a sentence for people and models. */
  text: string;
}

interface ClientForms {
  tool?: { name: string; note: string };
  command(agentId: string): string[];
}

const CLIENTS: Readonly<Record<string, ClientForms>> = {
  "claude-code": {
    tool: {
      name: "SendMessage",
      note: 'where it is not listed, ToolSearch "select:SendMessage" loads it; the answer comes as a task notification',
    },
    command: (agentId) => ["claude", "-p", "--resume", agentId],
  },
  codex: { command: (agentId) => ["codex", "exec", "resume", agentId, "-"] },
};

/** Sessions have UUIDs in both clients; sub-agents of Claude Code have other ids. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An id becomes part of a command and a prompt, so its characters are limited. */
const ID = /^\w[\w-]{0,99}$/;

/** Undefined: the client is unknown, or the id does not belong to it. */
export function resumeWay(client: string, agentId: string): ResumeWay | undefined {
  const forms = Object.hasOwn(CLIENTS, client) ? CLIENTS[client] : undefined;
  if (!forms || !ID.test(agentId)) return undefined;
  if (UUID.test(agentId)) return "session";
  return forms.tool ? "sub-agent" : undefined;
}

/** The key of a stored trial result: a client may support only one of the ways. */
export function resumeName(client: string, way: ResumeWay): string {
  return way === "sub-agent" ? client : `${client} sessions`;
}

/** Undefined as for `resumeWay`. */
export function resumeCall(
  client: string,
  { agentId, description }: { agentId: string; description: string },
): ResumeCall | undefined {
  const way = resumeWay(client, agentId);
  if (!way) return undefined;
  const { tool, command } = CLIENTS[client]!;
  if (way === "session") {
    const words = command(agentId);
    const text = `give the prompt to \`${words.join(" ")}\` on standard input`;
    return { way, agentId, command: words, text };
  }
  const { name, note } = tool!;
  const summary = cleanLine(description, { maxChars: 60 });
  const text = `send the prompt with ${name}: to "${agentId}", summary "${summary}", message the prompt as it is (${note})`;
  return { way, agentId, tool: { name, to: agentId, summary }, text };
}

/** The failure concerns this agent, not the client's abilities: it belongs to another session, or its transcript is gone. */
export function isAgentGone(failure: string): boolean {
  return /no transcript found|never ran in this session|no conversation found|no rollout found/i.test(failure);
}
