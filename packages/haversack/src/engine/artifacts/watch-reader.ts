/**
 * What hooks do about a sub-agent that was sent with documents to read: note them when the call is made, note what its tool
 * calls show of them, and judge at its end. Loaded by the hook: nothing but `fs`.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { formatSendBack, type Observation, type RequiredDocument, seenIn } from "../../artifacts/receipts.ts";
import { readReferenceBlock } from "../../artifacts/reference-block.ts";
import { appendReviewNote } from "../../artifacts/review-history.ts";
import { findProjectRoot, nearestFolder } from "../../base/project-root.ts";
import { writeEvent } from "../../store/sqlite/access.ts";
import {
  expectedOf,
  markAgent,
  noteSpawnDocuments,
  placeReader,
  readSeen,
  recordSeen,
} from "../../store/sqlite/artifacts/artifact-observations.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { recordInjection } from "../../store/sqlite/skills/injections.ts";
import { agentOfCall } from "../../store/sqlite/skills/prompt-ledger.ts";
import { appendHistory } from "./append-history.ts";
import { settleAgent } from "./settle-agent.ts";

export type { Observation };

export interface ReaderKey {
  sessionId: string;
  agentId: string;
}

/** The prompt that a sub-agent will be started with. False: it names nothing to read. */
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

/** A block that is added to the prompt of a call. False: nothing in it can be read, and it is of no use. */
export function addDocuments(
  block: string,
  call: { sessionId: string; toolUseId: string; agentType: string },
  parts: { handle: StoreHandle; now: Date },
): boolean {
  if (!expectFromPrompt(block, call, parts)) return false;
  const { role = call.agentType, documents = [] } = readReferenceBlock(block) ?? {};
  const because = { kind: "documents" as const, role, files: documents.map(({ file }) => file) };
  const agentId = agentOfCall(call.toolUseId);
  writeEvent(parts.handle, "injection", recordInjection, {
    sessionId: call.sessionId,
    agentId,
    at: parts.now,
    event: "agent-start",
    format: "documents",
    text: block,
    because,
  });
  return true;
}

export interface ReaderParts {
  handle: StoreHandle;
  agentType: string;
  /** The id of the call that started this sub-agent; undefined: not known, or not yet. */
  startedBy(): string | undefined;
  now: Date;
}

/** After a tool call of a sub-agent that may have documents to read. */
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

/** At its end. The text that sends it back, where the user has switched that on. */
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
    writeEvent(handle, "injection", recordInjection, {
      ...key,
      at: now,
      event: "agent-stop",
      format: "send-back",
      text,
      because,
    });
    return text;
  }
  const warning = settled.kind === "settled" ? settled.judgement.warning : undefined;
  // A prompt may name any folder; we write only into those of the project.
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

/** The repository or linked worktree of this project that the folder is in, links followed; undefined: neither. */
function workTreeOf(folder: string, root: string): string | undefined {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const tree = isInside(folder, root) ? root : nearestFolder(folder, (candidate) => existsSync(`${candidate}/.git`));
  if (tree === undefined || !isInside(realpathSync(folder), realpathSync(tree))) return undefined;
  return tree === root || findProjectRoot(folder).root === root ? tree : undefined;
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/** The same file by another way (a link, a worktree's alias) is that document. */
function withRealPath(observation: Observation, documents: readonly RequiredDocument[]): Observation {
  if (observation.tool === "shell" || observation.path === undefined) return observation;
  if (documents.some(({ path }) => path === observation.path)) return observation;
  const real = realPath(observation.path);
  const document = real === undefined ? undefined : documents.find(({ path }) => realPath(path) === real);
  return document ? { ...observation, path: document.path } : observation;
}

function realPath(path: string): string | undefined {
  return existsSync(path) ? realpathSync(path) : undefined;
}

const MAX_BYTES = 5_000_000;

/** Of a block that somebody wrote by hand. Undefined: it cannot be read, and nobody can be asked to. */
function countLines(path: string): number | undefined {
  const text = readText(path);
  if (text === undefined || text.trim() === "") return undefined;
  return text.replace(/(?:\r\n|\n|\r)$/, "").split(/\r\n|\n|\r/).length;
}

function readText(path: string): string | undefined {
  try {
    const { size, isFile } = sizeOf(path);
    return isFile && size <= MAX_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    // Gone meanwhile, or not ours to read: the sub-agent cannot read it either.
    return undefined;
  }
}

function sizeOf(path: string): { size: number; isFile: boolean } {
  const found = statSync(path, { throwIfNoEntry: false });
  return { size: found?.size ?? 0, isFile: found?.isFile() ?? false };
}
