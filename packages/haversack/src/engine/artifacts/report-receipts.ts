/** How often documents were not read, by role and document, and what dispatches cost. */
import { FALLBACK_GATE, receiptRates } from "../../artifacts/receipts.ts";
import type { SqliteArtifactStore } from "../../store/sqlite/artifacts/artifact-store.ts";
import type { ReceiptReport } from "./artifact-operations.ts";

export async function reportReceipts(
  { since }: { since?: Date | undefined },
  { store }: { store: SqliteArtifactStore },
): Promise<ReceiptReport> {
  const query = since === undefined ? {} : { since };
  const counts = await store.countReceipts(query);
  const rates = receiptRates(counts);
  const total = counts.reduce((sum, count) => sum + count.total, 0);
  const missing = counts.reduce((sum, count) => sum + count.missing, 0);
  const rate = total === 0 ? 0 : missing / total;
  return {
    rates,
    total,
    missing,
    rate,
    isAboveGate: rate > FALLBACK_GATE,
    dispatches: await store.sumDispatches(query),
  };
}
