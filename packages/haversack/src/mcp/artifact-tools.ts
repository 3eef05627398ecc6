/** Tools of artifacts for `--tools all`: an orchestrator that cannot run commands dispatches and records through these. */
import { type ArtifactParts, artifactParts } from "../engine/artifacts/artifact-parts.ts";
import { artifactRefs, readSection } from "../engine/artifacts/artifact-refs.ts";
import { dispatchRole } from "../engine/artifacts/dispatch-role.ts";
import { recordReview } from "../engine/artifacts/record-review.ts";
import { viewDispatch, viewRecorded } from "../engine/artifacts/views.ts";
import { defineTool, type Tool, type ToolAnswer, type ToolCall } from "./tool.ts";
import { answer, reading, refusal, writing } from "./work-answer.ts";

const TEXT = { type: "string" } as const;
const FEATURE = { type: "string", description: "its folder" } as const;
const ITERATION = { type: "integer", minimum: 1 } as const;
const READS = { readOnlyHint: true, openWorldHint: false } as const;
const ADDS = { destructiveHint: false, openWorldHint: false } as const;

const dispatchTool = defineTool({
  name: "dispatch",
  description: "The finished prompt for a role's sub-agent, with references to the documents it must read.",
  inputSchema: {
    type: "object",
    properties: {
      role: TEXT,
      feature: FEATURE,
      phase: TEXT,
      iteration: ITERATION,
      task: { type: "string", description: "of tasks.md, for a worker" },
      files: { type: "array", items: TEXT },
      fix_summary: TEXT,
    },
    required: ["role", "feature"],
  },
  unlisted: { base: TEXT, resume_failed: TEXT },
  annotations: ADDS,
  set: "all",
  run: ({ fix_summary: fixSummary, resume_failed: resumeFailure, ...request }, call) =>
    withParts(call, async (parts) => {
      const outcome = await dispatchRole({ ...request, fixSummary, resumeFailure }, parts);
      return outcome.kind === "refused" ? refusal(outcome) : answer(viewDispatch(outcome));
    }),
});

const refsTool = defineTool({
  name: "artifact_refs",
  description: "The block of files that a role must read.",
  inputSchema: {
    type: "object",
    properties: { role: TEXT, feature: FEATURE, phase: TEXT },
    required: ["role", "feature"],
  },
  annotations: READS,
  set: "all",
  run: ({ role, feature, phase }, call) =>
    reading(call, async (place) => {
      const { block, role: name, phase: set } = artifactRefs({ role, feature, phase }, place);
      return { text: block || `${name} of ${set} has nothing to read besides its prompt.` };
    }),
});

const sectionTool = defineTool({
  name: "artifact_section",
  description: "One section of a Markdown file, by heading, number or anchor (file#heading works too).",
  inputSchema: { type: "object", properties: { file: TEXT, heading: TEXT }, required: ["file"] },
  annotations: READS,
  set: "all",
  run: ({ file, heading }, call) =>
    reading(call, async (place) => ({ text: readSection({ file, heading }, place).text })),
});

const recordTool = defineTool({
  name: "record_review",
  description: "Record a reviewer's answer: verdict, issues, and whether it read its documents.",
  inputSchema: {
    type: "object",
    properties: {
      role: TEXT,
      feature: FEATURE,
      phase: TEXT,
      iteration: ITERATION,
      answer: { type: "string", description: "whole, as it came" },
      agent_id: TEXT,
    },
    required: ["role", "feature", "iteration", "answer"],
  },
  annotations: ADDS,
  set: "all",
  run: ({ agent_id: agentId, ...request }, call) =>
    withParts(call, async (parts) => {
      const outcome = await recordReview({ ...request, agentId }, parts);
      return outcome.kind === "refused" ? refusal(outcome) : answer(viewRecorded(outcome));
    }),
});

export const artifactTools: readonly Tool[] = [dispatchTool, refsTool, sectionTool, recordTool];

/** In the server's own store and project, as all tools. */
function withParts(call: ToolCall, use: (parts: ArtifactParts) => Promise<ToolAnswer>): Promise<ToolAnswer> {
  // Only Codex names a thread; all others start sub-agents as Claude Code does, or not at all.
  const client = call.marks.threadId === undefined ? undefined : "codex";
  return writing(call, async ({ handle, ...place }) => use(await artifactParts(handle, { ...place, client })));
}
