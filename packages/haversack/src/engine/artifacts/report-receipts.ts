/** How often documents were not read, by role and document, and what dispatches have cost: numbers instead of trust. */
import { FALLBACK_GATE, type ReceiptRate, receiptRates } from "../../artifacts/receipt-rates.ts";
import type { ArtifactStore, DispatchTotals, ReceiptCount } from "../../store/artifact-store.ts";

export interface ReceiptReport {
  /** The worst first. */
  rates: (ReceiptRate & Pick<ReceiptCount, "share" | "fromEvents">)[];
  total: number;
  missing: number;
  /** Over all; 0 when there are none. */
  rate: number;
  isAboveGate: boolean;
  dispatches: DispatchTotals[];
}

export async function reportReceipts(
  { since }: { since?: Date | undefined },
  { store }: { store: ArtifactStore },
): Promise<ReceiptReport> {
  const query = since === undefined ? {} : { since };
  const counts = await store.countReceipts(query);
  const rates = receiptRates(counts).map((rate) => {
    const { share, fromEvents } = counts.find(({ role, file }) => role === rate.role && file === rate.file)!;
    return { ...rate, share, fromEvents };
  });
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
