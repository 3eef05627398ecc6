/** How often receipts are missing, by role and document: whether references are worth their trouble is a number. */
export interface ReceiptRow {
  role: string;
  file: string;
  isMissing: boolean;
}

export interface ReceiptRate {
  role: string;
  file: string;
  total: number;
  missing: number;
  /** 0 to 1. */
  rate: number;
  /** More than a fifth: then the references themselves are in question. */
  isAboveGate: boolean;
}

const FALLBACK_GATE = 0.2;

/** The worst first. */
export function receiptRates(rows: Iterable<ReceiptRow>): ReceiptRate[] {
  const rates = new Map<string, ReceiptRate>();
  for (const { role, file, isMissing } of rows) {
    const key = JSON.stringify([role, file]);
    const rate = rates.get(key) ?? { role, file, total: 0, missing: 0, rate: 0, isAboveGate: false };
    rate.total++;
    if (isMissing) rate.missing++;
    rate.rate = rate.missing / rate.total;
    rate.isAboveGate = rate.rate > FALLBACK_GATE;
    rates.set(key, rate);
  }
  return [...rates.values()].sort((a, b) => b.rate - a.rate || b.total - a.total || (a.role < b.role ? -1 : 1));
}
