/** Artifact tools for `--tools all`. An orchestrator that cannot run commands dispatches and records through them. */
import { type ArtifactParts, artifactParts } from "../engine/artifacts/artifact-parts.ts";
import { artifactRefs, readSection } from "../engine/artifacts/artifact-refs.ts";
import { dispatchRole } from "../engine/artifacts/dispatch-role.ts";
import { recordReview } from "../engine/artifacts/record-review.ts";
import { viewDispatch, viewRecorded } from "../engine/artifacts/views.ts";
import type { LiveParts } from "../engine/work/live-work.ts";
import { type Tool, type ToolCall, toolMaker, writes } from "./tool.ts";
import { hidden, needed } from "./tool-input.ts";
import { answer, TEXT, TEXTS } from "./work-answer.ts";

const ROLE = {
  role: needed(TEXT),
  feature: needed({ type: "string", description: "its folder" }),
  phase: TEXT,
} as const;
const ITERATION = { type: "integer", minimum: 1 } as const;
const reads = toolMaker("read", { readOnlyHint: true, openWorldHint: false });

export const artifactTools: readonly Tool[] = [
  writes(
    "dispatch",
    "The finished prompt for a role's sub-agent, with references to the documents it must read.",
    {
      ...{ ...ROLE, iteration: ITERATION, task: { type: "string", description: "of tasks.md, for a worker" } },
      ...{ files: TEXTS, fix_summary: TEXT, base: hidden(TEXT), resume_failed: hidden(TEXT) },
    },
    async ({ resumeFailed: resumeFailure, ...request }, parts, call) =>
      dispatchRole({ ...request, resumeFailure }, await partsFor(call, parts)),
    (outcome) => answer(viewDispatch(outcome)),
  ),
  reads("artifact_refs", "The block of files that a role must read.", ROLE, (request, place) => {
    const { block, role, phase } = artifactRefs(request, place);
    return { text: block || `${role} of ${phase} has nothing to read besides its prompt.` };
  }),
  reads(
    "artifact_section",
    "One section of a Markdown file, by heading, number or anchor (file#heading works too).",
    { file: needed(TEXT), heading: TEXT },
    (section, place) => ({ text: readSection(section, place).text }),
  ),
  writes(
    "record_review",
    "Record a reviewer's answer: verdict, issues, and whether it read its documents.",
    {
      ...{ ...ROLE, iteration: needed(ITERATION) },
      ...{ answer: needed({ type: "string", description: "whole, as it came" }), agent_id: TEXT },
    },
    async (request, parts, call) => recordReview(request, await partsFor(call, parts)),
    (outcome) => answer(viewRecorded(outcome)),
  ),
];

/** Uses the server's own store and project, like all tools. */
function partsFor({ marks }: ToolCall, { handle, store, ...place }: LiveParts): Promise<ArtifactParts> {
  // Only Codex sends a thread ID. All other clients start sub-agents as Claude Code does, or not at all.
  return artifactParts(handle, { ...place, work: store, client: marks.threadId === undefined ? undefined : "codex" });
}
