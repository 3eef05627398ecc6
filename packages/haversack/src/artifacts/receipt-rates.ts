/** How often receipts are missing, by role and document: whether references are worth their trouble is a number. */
export interface ReceiptTally {
  role: string;
  file: string;
  total: number;
  missing: number;
}

export interface ReceiptRate extends ReceiptTally {
  /** 0 to 1. */
  rate: number;
  /** More than a fifth: then the references themselves are in question. */
  isAboveGate: boolean;
}

export const FALLBACK_GATE = 0.2;

/** The worst first. */
export function receiptRates(tallies: Iterable<ReceiptTally>): ReceiptRate[] {
  return [...tallies]
    .map(({ role, file, total, missing }) => {
      const rate = total === 0 ? 0 : missing / total;
      return { role, file, total, missing, rate, isAboveGate: rate > FALLBACK_GATE };
    })
    .sort((a, b) => b.rate - a.rate || b.total - a.total || (a.role < b.role ? -1 : 1));
}
