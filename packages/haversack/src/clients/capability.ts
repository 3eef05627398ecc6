/**
 * What of Haversack works in a client, and what the client does not allow. Each client has a list of these
 * (`NAME/capabilities.ts`), seen with the real program; the pages in docs/ show it.
 */
export interface Capability {
  what: string;
  works: "yes" | "no" | "partly";
  /** What stands behind it in the client. */
  how: string;
}
