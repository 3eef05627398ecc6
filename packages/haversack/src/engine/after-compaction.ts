/**
 * The first thing a window hears after a compaction: what was being done, and the skills that were in use, as much of them as
 * fits. Nothing comes twice: a skill that the client's own tool loaded is brought back by the client, and what the prompt
 * at hand was given survives when the compaction came before its first answer. Loaded by the hook.
 */
import { activationOf } from "../skills/activation.ts";
import { bestSections } from "../skills/skill-sections.ts";
import type { SkillCard } from "../skills/types.ts";
import type { Session } from "../store/local-store.ts";
import type { WindowEntry } from "../store/sqlite/skill-ledger.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import { fit, type Part } from "../tokens/fit.ts";
import { formatWip } from "../work/format-wip.ts";
import { taskPacket } from "../work/task-packet.ts";
import type { EventParts } from "./handle-event.ts";
import type { EventBase, HookAnswer } from "./hook-event.ts";

const HEAD = "After the compaction, from Haversack: what this session had in hand.";

/** Of the room there is; skills want the rest. */
const TASK_SHARE = 0.5;

export function afterCompaction(
  event: EventBase & { promptId?: string },
  before: Session,
  { index, ledger, state, tasks, snapshot, now }: EventParts,
): HookAnswer {
  const key = { sessionId: event.sessionId, agentId: event.agentId };
  const maxChars = event.client.maxChars - HEAD.length - 2;
  const bound = tasks.taskOf(key);
  const task = bound && snapshot(bound.id);
  const wip = task ? undefined : state.wip(key);
  const workText = task
    ? `The task in hand:\n\n${taskPacket(task, { maxChars: Math.floor(maxChars * TASK_SHARE) })}`
    : wip
      ? formatWip(wip.data)
      : "";
  const entries = ledger.window({ ...key, window: before.window });
  const isAtPrompt =
    event.promptId !== undefined &&
    event.promptId === ledger.lastPromptId(key) &&
    !hasWorkedSince(before, task ? task.wipUpdatedAt : wip?.updatedAt);
  const kept = KEPT_FILES[event.client.name];
  const areFilesKept = kept !== undefined && ledger.tracking(key).files.length <= kept.files;
  const isKeptFile = (hash: string | null) => areFilesKept && (index.body(hash ?? "")?.length ?? 0) <= kept.maxChars;
  const isCarried = ({ shownAtPrompt, loadedHash, loadedBy }: WindowEntry) =>
    loadedBy === "client" ||
    (loadedBy === "read" && isKeptFile(loadedHash)) ||
    (isAtPrompt && shownAtPrompt === before.promptCount);
  const active = entries.flatMap((entry) => {
    const card = entry.loadedHash && !isCarried(entry) ? index.card(entry.skill) : undefined;
    const body = card && (index.body(entry.loadedHash ?? "") ?? index.body(card.hash));
    return card && body ? [{ card, hash: entry.loadedHash ?? "", body }] : [];
  });

  const how = task ? `get_task(task_id: "${task.id}")` : `haversack wip show --session ${event.sessionId}`;
  const parts: Part[] = [
    ...(workText ? [{ key: task ? "task" : "wip", rank: 0, full: workText, how }] : []),
    ...active.map(({ card, hash, body }, at) =>
      skillPart(card, {
        hash,
        body,
        rank: at + 1,
        query: workText,
        maxChars,
        activation: activationOf(card, event.client),
      }),
    ),
  ];
  const { text, included } = fit(parts, { budget: maxChars, count: (part) => part.length, footer: true });
  const context = text && `${HEAD}\n\n${text}`;
  ledger.recordRestored({
    ...key,
    at: now,
    text: context,
    tokens: estimateTokens(context),
    skills: included.flatMap(({ key: id, form }) => {
      const skill = active.find(({ card }) => card.id === id);
      return skill ? [{ skill: id, hash: skill.hash, isWhole: form === "full" }] : [];
    }),
    carried: entries.filter(isCarried),
  });
  return context ? { context } : {};
}

/**
 * Clients that bring files back that were read. Claude Code 2.1.325: five, of which one of 18,000 characters came and one of
 * 22,000 did not; which five of more cannot be foretold, and a skill that comes twice is better than one that is lost.
 */
const KEPT_FILES: Readonly<Record<string, { files: number; maxChars: number }>> = {
  "claude-code": { files: 5, maxChars: 15_000 },
};

/** Work after the last prompt: then the compaction came in the middle of a turn, and what that prompt was given is gone. */
function hasWorkedSince({ lastPromptAt }: Session, updatedAt: string | undefined): boolean {
  return updatedAt !== undefined && lastPromptAt !== undefined && Date.parse(updatedAt) > lastPromptAt.getTime();
}

function skillPart(
  { id, hash: current, brief }: SkillCard,
  {
    hash,
    body,
    rank,
    query,
    maxChars,
    activation,
  }: { hash: string; body: string; rank: number; query: string; maxChars: number; activation: string },
): Part {
  const changed = hash === current ? "" : " (the version this session loaded; the file has changed since)";
  const head = `## SKILL IN USE: ${id}${changed}`;
  return {
    key: id,
    rank,
    full: `${head}\n\n${body.trim()}`,
    short: `${head}, its most relevant parts; all of it: ${activation}\n\n${bestSections(body, { query, maxChars: Math.floor(maxChars / 3) })}`,
    name: `${head}: ${brief} Activate it again: ${activation}`,
    how: activation,
  };
}
