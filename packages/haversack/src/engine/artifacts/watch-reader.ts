/**
 * What hooks do for a sub-agent that must read documents: record the documents at the call, record what its tool calls read, and judge at
 * its end. Loaded by the hook, so it uses only `fs`.
 */

import { existsSync, realpathSync, statSync } from "node:fs";
import {
  formatSendBack,
  judgeReceipts,
  type Observation,
  type ReceiptJudgement,
  type RequiredDocument,
  seenIn,
} from "../../artifacts/receipts.ts";
import { readReferenceBlock } from "../../artifacts/reference-block.ts";
import { appendReviewNote } from "../../artifacts/review-history.ts";
import { readBounded } from "../../base/clean-text.ts";
import { findProjectRoot, nearestFolder } from "../../base/project-root.ts";
import type { NewReceipts } from "../../store/artifact-records.ts";
import { type StoreHandle, writeEvent } from "../../store/sqlite/access.ts";
import {
  type AgentEvidence,
  expectedOf,
  markAgent,
  mayHaveToRead,
  noteSpawnDocuments,
  placeReader,
  readSeen,
  recordSeen,
  saveReceipts,
} from "../../store/sqlite/artifacts/artifact-observations.ts";
import type { SessionKey } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { noteInjection } from "../../store/sqlite/skills/injections.ts";
import { agentOfCall } from "../../store/sqlite/skills/prompt-ledger.ts";
import type { ClientEvent, EventAnswer, EventOf } from "../events/client-event.ts";
import type { EventProject } from "../events/event-project.ts";
import { appendHistory } from "./append-history.ts";
import { findFeatureBlock, roleOf } from "./find-feature-block.ts";

/** `answer`: the answer to the event so far. */
export function watchReader(event: ClientEvent, answer: EventAnswer, project: EventProject): EventAnswer {
  const { handle, now } = project;
  switch (event.kind) {
    case "before-spawn":
      return noteSpawn(event, answer.prompt, project);
    case "after-spawn": {
      const child = { sessionId: event.sessionId, agentId: event.childId };
      if (event.isOnlySign && mayHaveToRead(handle.db, child))
        placeReader(handle, child, { toolUseId: event.toolUseId, agentType: "", at: now });
      return {};
    }
    case "agent-stop": {
      if (!mayHaveToRead(handle.db, event)) return {};
      const sendBack = () => event.canGoOn === true && project.config()["artifacts.send_back"];
      const end = { root: project.root, answer: event.answer, sendBack };
      const text = judgeReader(event, end, readerParts(event, project));
      return text === undefined ? {} : { sendBack: text };
    }
    default:
      return {};
  }
}

export function noteReading(event: EventOf<"after-tool">, project: EventProject): void {
  const { observation, cwd } = event;
  if (!observation || !mayHaveToRead(project.handle.db, event)) return;
  noteSeen(event, { observation, cwd }, readerParts(event, project));
}

/** `given`: the changed prompt, if something was added to it already. */
function noteSpawn(call: EventOf<"before-spawn">, given: string | undefined, project: EventProject): EventAnswer {
  const hasRoleMap = existsSync(`${project.state}/artifacts.json`);
  if (!hasRoleMap && !call.prompt.includes("Required Artifacts")) return {};
  if (expectFromPrompt(call.prompt, call, project)) return {};
  if (!hasRoleMap || call.receipts !== "found") return {};
  const { root, env, cli } = project;
  const block = findFeatureBlock({ ...call, root, env, cli });
  // A block of unreadable documents is of no use.
  const role = { ...call, agentType: roleOf(call.agentType) };
  if (block === undefined || !addDocuments(block, role, project)) return {};
  return { prompt: `${given ?? call.prompt}\n\n${block}` };
}

function readerParts(
  { agentType = "", startedBy = () => undefined }: { agentType?: string; startedBy?(): string | undefined },
  { handle, now }: EventProject,
): ReaderParts {
  return { handle, now, agentType, startedBy };
}

type ReaderKey = Required<SessionKey>;

/** Records the documents in a sub-agent's prompt. False: it names nothing to read. */
export function expectFromPrompt(
  prompt: string,
  call: { sessionId: string; toolUseId: string; agentType: string },
  { handle, now }: { handle: StoreHandle; now: Date },
): boolean {
  const found = readReferenceBlock(prompt);
  if (!found) return false;
  const documents = found.documents.flatMap((document): RequiredDocument[] => {
    const lineCount = document.lineCount ?? countLines(document.path);
    return lineCount === undefined ? [] : [{ ...document, lineCount }];
  });
  if (documents.length === 0) return false;
  noteSpawnDocuments(handle, call, { ...found, role: found.role ?? call.agentType, documents }, now);
  return true;
}

/** Records the documents of a block that is added to a prompt. False: none of them can be read, so the block is useless. */
export function addDocuments(
  block: string,
  call: { sessionId: string; toolUseId: string; agentType: string },
  parts: { handle: StoreHandle; now: Date },
): boolean {
  if (!expectFromPrompt(block, call, parts)) return false;
  const { role = call.agentType, documents = [] } = readReferenceBlock(block) ?? {};
  const because = { kind: "documents" as const, role, files: documents.map(({ file }) => file) };
  const key = { sessionId: call.sessionId, agentId: agentOfCall(call.toolUseId) };
  const shown = { at: parts.now, event: "agent-start", format: "documents", text: block, because };
  noteInjection(parts.handle, key, shown);
  return true;
}

export interface ReaderParts {
  handle: StoreHandle;
  agentType: string;
  /** The id of the call that started this sub-agent. Undefined: not known (yet). */
  startedBy(): string | undefined;
  now: Date;
}

/** Called after a tool call of a sub-agent that may have documents to read. */
export function noteSeen(
  key: ReaderKey,
  { observation, cwd }: { observation(): Observation | undefined; cwd: string },
  parts: ReaderParts,
): void {
  place(key, parts);
  const documents = expectedOf(parts.handle, key);
  const shown = documents.length === 0 ? undefined : observation();
  if (!shown) return;
  recordSeen(parts.handle, key, seenIn(withRealPath(shown, documents), documents, { cwd, textOf: readText }));
}

/** Called at its end. Returns the text that sends it back, if the user has switched that on. */
export function judgeReader(
  key: ReaderKey,
  { root, answer, sendBack }: { root: string; answer: string | undefined; sendBack(): boolean },
  parts: ReaderParts,
): string | undefined {
  place(key, parts);
  const { handle, now } = parts;
  const evidence = readSeen(handle, key);
  if (!evidence || evidence.documents.length === 0 || evidence.isSettled) return undefined;
  const { folder } = evidence;
  const tree = workTreeOf(folder, root);
  const feature = tree === undefined ? folder : folder.slice(tree.length + 1) || ".";
  const settled = settleAgent(handle, key, { feature, sendBack: sendBack(), answer, now });
  if (settled.kind === "send-back") {
    const { missing } = settled.judgement;
    const text = formatSendBack(missing);
    const because = { kind: "documents" as const, role: evidence.role, files: missing.map(({ file }) => file) };
    noteInjection(handle, key, { at: now, event: "agent-stop", format: "send-back", text, because });
    return text;
  }
  const warning = settled.kind === "settled" ? settled.judgement.warning : undefined;
  // A prompt may name any folder; write only into those of the project.
  if (warning !== undefined && tree !== undefined && markAgent(handle, key, "warned_at", now)) {
    appendHistory(folder, { root: tree, change: (text) => appendReviewNote(text, warning) });
  }
  return undefined;
}

function place(key: ReaderKey, { handle, agentType, startedBy, now }: ReaderParts): void {
  if (readSeen(handle, key)) return;
  const toolUseId = startedBy();
  if (toolUseId !== undefined) placeReader(handle, key, { toolUseId, agentType, at: now });
}

/** The repository or linked worktree of this project that contains the folder, after following links. Undefined: neither does. */
function workTreeOf(folder: string, root: string): string | undefined {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const tree = isInside(folder, root) ? root : nearestFolder(folder, (candidate) => existsSync(`${candidate}/.git`));
  if (tree === undefined || !isInside(realpathSync(folder), realpathSync(tree))) return undefined;
  return tree === root || findProjectRoot(folder).root === root ? tree : undefined;
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/** The same file by another path (a link, a worktree's alias) counts as that document. */
function withRealPath(observation: Observation, documents: readonly RequiredDocument[]): Observation {
  if (observation.tool === "shell" || observation.path === undefined) return observation;
  if (documents.some(({ path }) => path === observation.path) || !existsSync(observation.path)) return observation;
  const real = realpathSync(observation.path);
  const document = documents.find(({ path }) => existsSync(path) && realpathSync(path) === real);
  return document ? { ...observation, path: document.path } : observation;
}

const MAX_BYTES = 5_000_000;

/** For a handwritten block. Undefined: the file cannot be read, so nobody can be asked to read it. */
function countLines(path: string): number | undefined {
  const text = readText(path);
  if (text === undefined || text.trim() === "") return undefined;
  return text.replace(/(?:\r\n|\n|\r)$/, "").split(/\r\n|\n|\r/).length;
}

/** Undefined: missing, too long, or not readable; then the sub-agent cannot read it either. */
function readText(path: string): string | undefined {
  return readBounded(path, MAX_BYTES)?.text;
}

// Judges one sub-agent by what hooks saw of it. A hook calls `settleAgent` at its end; recording its answer later finds
// the same evidence. Loaded by the hook.

export type Settled =
  /** It had nothing to read, or its receipts are stored already. */
  | { kind: "nothing" }
  /** It has not read everything, and the gate sends it back. Nothing is stored yet. */
  | { kind: "send-back"; judgement: ReceiptJudgement }
  | { kind: "settled"; evidence: AgentEvidence; judgement: ReceiptJudgement };

/** `sendBack`: the user's setting. An agent is sent back only once; what it has read at its second end counts. */
export function settleAgent(
  handle: StoreHandle,
  key: ReaderKey,
  { feature, sendBack, answer, now }: { feature: string; sendBack: boolean; answer?: string | undefined; now: Date },
): Settled {
  const evidence = readSeen(handle, key);
  if (!evidence || evidence.documents.length === 0) return { kind: "nothing" };
  const judgement = judgeEvidence(evidence, { role: evidence.role, answer });
  if (sendBack && judgement.missing.length > 0 && markAgent(handle, key, "sent_back_at", now)) {
    return { kind: "send-back", judgement };
  }
  if (!markAgent(handle, key, "settled_at", now)) return { kind: "nothing" };
  const { role, iteration } = evidence;
  const receipts = { ...receiptsOf(judgement, evidence), feature, role, ...(iteration && { iteration }) };
  writeEvent(handle, "receipts", saveReceipts, { receipts, at: now });
  return { kind: "settled", evidence, judgement };
}

export function judgeEvidence(
  { documents, seen }: Pick<AgentEvidence, "documents" | "seen">,
  { role, answer }: { role: string; answer?: string | undefined },
): ReceiptJudgement {
  const paths = new Map(documents.map(({ file, path }) => [file, path]));
  const observations = seen.flatMap(({ file, from, to }): Observation[] => {
    const path = paths.get(file);
    return path === undefined ? [] : [{ tool: "read", path, offset: from, shownLines: to - from + 1 }];
  });
  return judgeReceipts({ role, required: documents, observations, answer });
}

export function receiptsOf(
  { source, documents }: ReceiptJudgement,
  agent?: { sessionId: string; agentId: string },
): Pick<NewReceipts, "source" | "agent" | "documents"> {
  return {
    source,
    ...(agent && { agent: { sessionId: agent.sessionId, agentId: agent.agentId } }),
    documents: documents.map(({ file, lineCount, share, status, claimedLines }) => ({
      file,
      lineCount,
      share,
      isMissing: status !== "read",
      ...(typeof claimedLines === "number" && { claimedLines }),
    })),
  };
}
