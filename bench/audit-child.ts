/**
 * `node bench/audit-child.ts FOLDER`: audits the transcripts in a folder, and prints time and memory as JSON. It is a separate process, so that its
 * memory can be measured.
 */
import { auditTranscripts } from "../packages/haversack/src/audit/audit-transcripts.ts";
import { findTranscripts } from "../packages/haversack/src/audit/find-transcripts.ts";
import { READERS } from "../packages/haversack/src/audit/readers.ts";
import { loadCounter } from "../packages/haversack/src/tokens/count.ts";

const countTokens = await loadCounter();
const cpuBefore = process.cpuUsage();
const start = performance.now();
const { files } = findTranscripts({ env: {}, readers: READERS, paths: process.argv.slice(2) });
const { bytes, tokens, records, sessions } = auditTranscripts(files, { countTokens });
const { user, system } = process.cpuUsage(cpuBefore);
console.log(
  JSON.stringify({
    bytes,
    ms: performance.now() - start,
    cpuMs: (user + system) / 1000,
    maxRssMb: process.resourceUsage().maxRSS / 1000,
    ...{ tokens, sessions: sessions.length, broken: records.broken },
  }),
);
