/** Tools of artifacts for `--tools all`: an orchestrator that cannot run commands dispatches and records through these. */
import { isAbsolute } from "node:path";
import { type ArtifactParts, withArtifacts } from "../engine/artifacts/artifact-parts.ts";
import { artifactRefs, readSection } from "../engine/artifacts/artifact-refs.ts";
import { dispatchRole } from "../engine/artifacts/dispatch-role.ts";
import { recordReview } from "../engine/artifacts/record-review.ts";
import { viewDispatch, viewRecorded } from "../engine/artifacts/views.ts";
import { projectPaths, requireConfig } from "../engine/project.ts";
import { defineTool, type Tool, type ToolAnswer, type ToolCall } from "./tool.ts";
import { answer, refusal } from "./work-answer.ts";

const TEXT = { type: "string" } as const;
const FEATURE = { type: "string", description: "its folder" } as const;
const ITERATION = { type: "integer", minimum: 1 } as const;
const READS = { readOnlyHint: true } as const;
const ADDS = { destructiveHint: false } as const;

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
    withParts(call, { isWrite: true }, async (parts) => {
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
  run: ({ role, feature, phase }, call) => {
    const { block, role: name, phase: set } = artifactRefs({ role, feature, phase }, placeOf(call));
    return { text: block || `${name} of ${set} has nothing to read besides its prompt.` };
  },
});

const sectionTool = defineTool({
  name: "artifact_section",
  description: "One section of a Markdown file, by heading, number or anchor.",
  inputSchema: { type: "object", properties: { file: TEXT, heading: TEXT }, required: ["file", "heading"] },
  annotations: READS,
  set: "all",
  run: ({ file, heading }, call) => ({ text: readSection({ file, heading }, placeOf(call)).text }),
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
    withParts(call, { isWrite: true }, async (parts) => {
      const outcome = await recordReview({ ...request, agentId }, parts);
      return outcome.kind === "refused" ? refusal(outcome) : answer(viewRecorded(outcome));
    }),
});

export const artifactTools: readonly Tool[] = [dispatchTool, refsTool, sectionTool, recordTool];

/** Opened for the call alone: they are rare, and the store may be another one by the next. */
async function withParts(
  call: ToolCall,
  { isWrite }: { isWrite: boolean },
  use: (parts: ArtifactParts) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const { cwd, paths } = placeOf(call);
  const by = await call.parts.work.read(call, async (work) => work.by);
  const config = requireConfig(paths, () => undefined);
  return withArtifacts({ cwd, paths, config, by }, use, { isWrite });
}

/** The same folder as the server's own: the client's project, else where it was started. */
function placeOf({ parts: { env } }: ToolCall) {
  const named = env["CLAUDE_PROJECT_DIR"];
  const cwd = named && isAbsolute(named) ? named : process.cwd();
  return { cwd, paths: projectPaths(cwd, env) };
}
