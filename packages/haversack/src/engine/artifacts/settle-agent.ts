/**
 * The judgement about one sub-agent, from what hooks have seen of it. At its end a hook calls `settleAgent`; whoever records its
 * answer later finds the same evidence. Loaded by the hook.
 */
import { judgeReceipts, type Observation, type ReceiptJudgement } from "../../artifacts/receipts.ts";
import type { NewReceipts } from "../../store/artifact-store.ts";
import { writeEvent } from "../../store/sqlite/access.ts";
import {
  type AgentEvidence,
  markAgent,
  readSeen,
  saveReceipts,
} from "../../store/sqlite/artifacts/artifact-observations.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";

export type Settled =
  /** It had nothing to read, or its receipts are stored already. */
  | { kind: "nothing" }
  /** It has not read all, and the gate sends it back; nothing is stored yet. */
  | { kind: "send-back"; judgement: ReceiptJudgement }
  | { kind: "settled"; evidence: AgentEvidence; judgement: ReceiptJudgement };

/** `sendBack`: the user's switch. One agent is sent back once; what it has read at its second end is what counts. */
export function settleAgent(
  handle: StoreHandle,
  key: { sessionId: string; agentId: string },
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
