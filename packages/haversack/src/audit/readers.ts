/** The readers of all clients' transcripts. */
import { claudeTranscripts } from "../clients/claude-code/transcript-parts.ts";
import { codexRollouts } from "../clients/codex/transcript-parts.ts";
import { geminiTranscripts } from "../clients/gemini/transcript-parts.ts";
import { opencodeTranscripts } from "../clients/opencode/transcript-parts.ts";
import type { TranscriptReader } from "../clients/transcript.ts";

/** The most specific first. The first lines of a transcript show its client. */
export const READERS: readonly TranscriptReader[] = [
  geminiTranscripts,
  codexRollouts,
  claudeTranscripts,
  opencodeTranscripts,
];
