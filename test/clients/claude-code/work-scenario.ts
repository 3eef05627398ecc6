/**
 * A scripted model that follows `/work` and the agents' texts as a good one would: the coordinator takes batches, starts an implementer per task and
 * then its reviewers, and marks tasks as done; each sub-agent claims, works, hands off and answers. The model decides only by the requests, so an
 * unexpected tool answer stops it.
 */
import type { ModelRequest } from "../model-request.ts";
import { blocksOf } from "../model-request.ts";
import { type Answer, type Reply, type ToolCall, toolCall } from "../script.ts";

export const OURS = "mcp__haversack__";
export const ROLES = ["implementer", "spec-reviewer", "quality-reviewer"] as const;
export type Role = (typeof ROLES)[number];

export interface WorkScenario {
  root: string;
  /** Of a batch; absent: the store decides. */
  batchSize?: number;
  /** stored: details go into a handoff, the answer is short. told: the answer has the details. both: stored, and told all the same. */
  details: "stored" | "told" | "both";
  detailsOf(taskId: string, role: Role): string;
  /** Default: a mark that tests can find. */
  summary?: string;
  /** Default: false. */
  isBackground?: boolean;
}

export function workScript(scenario: WorkScenario): Answer {
  const coordinate = coordinator(scenario);
  return (request, n) => {
    if (request.kind === "main") return coordinate(request);
    return request.kind === "sub-agent" ? subAgent(scenario, request, n) : undefined;
  };
}

export function fileOf(taskId: string): string {
  return `${taskId}.txt`;
}

export function summaryOf(taskId: string, role: Role): string {
  return `SUMMARY-OF-${role}-${taskId}`;
}

function coordinator({ batchSize, isBackground = false }: WorkScenario): (request: ModelRequest) => Reply {
  const ask = { tools: [toolCall(`${OURS}get_next_batch`, batchSize === undefined ? {} : { batch_size: batchSize })] };
  const start = (role: Role, taskId: string): ToolCall =>
    toolCall("Agent", {
      description: `${role} of ${taskId}`,
      prompt: `Task ${taskId}`,
      subagent_type: `haversack-${role}`,
      run_in_background: isBackground,
    });
  let batch: string[] = [];
  let next: (request: ModelRequest) => Reply = () => {
    next = implement;
    return ask;
  };
  const implement = (request: ModelRequest): Reply => {
    batch = tasksIn(request);
    if (batch.length === 0) return { text: "ALL-DONE" };
    next = review;
    return { tools: batch.map((id) => start("implementer", id)) };
  };
  const review = (): Reply => {
    next = settle;
    return { tools: batch.flatMap((id) => [start("spec-reviewer", id), start("quality-reviewer", id)]) };
  };
  const settle = (): Reply => {
    next = again;
    return { tools: batch.map((id) => toolCall(`${OURS}update_task_status`, { task_id: id, status: "done" })) };
  };
  const again = (): Reply => {
    next = implement;
    return ask;
  };
  return (request) => next(request);
}

function tasksIn({ toolResults }: ModelRequest): string[] {
  const [result] = toolResults;
  if (!result || result.isError) throw new Error(`get_next_batch answered ${result?.text}`);
  return result.text.match(/^T\d+/gm) ?? [];
}

function subAgent({ root, details, detailsOf, summary }: WorkScenario, request: ModelRequest, n: number): Reply {
  const role = roleOf(request);
  const taskId = /Task (T\d{4,12})/.exec(firstPrompt(request))?.[1] ?? "";
  const status = (value: string) => toolCall(`${OURS}update_task_status`, { task_id: taskId, status: value });
  const handoff = toolCall(`${OURS}set_task_handoff`, {
    task_id: taskId,
    role,
    status: "PASS",
    summary: summary ?? summaryOf(taskId, role),
    full_details: detailsOf(taskId, role),
  });
  const file_path = `${root}/${fileOf(taskId)}`;
  const steps: ToolCall[] = [
    ...(role === "implementer"
      ? [status("in_progress"), toolCall("Write", { file_path, content: taskId })]
      : [toolCall("Read", { file_path })]),
    ...(details === "told" ? [] : [handoff]),
    ...(role === "implementer" ? [status("review")] : []),
  ];
  const failed = request.toolResults.find(({ isError }) => isError);
  if (failed) throw new Error(`${role} of ${taskId} got ${failed.text}`);
  const call = steps[n - 1];
  if (call) return { tools: [call] };
  const said = details === "stored" ? (summary ?? summaryOf(taskId, role)) : detailsOf(taskId, role);
  return { text: `${said}\nVERDICT: PASS` };
}

/** By the agent's own text. */
function roleOf({ system }: ModelRequest): Role {
  const text = blocksOf(system)
    .map((block) => block.text ?? "")
    .join("\n");
  const role = ROLES.find((candidate) => text.includes(`(role: ${candidate},`));
  if (!role) throw new Error("no agent definition of ours in the system prompt");
  return role;
}

/** What the sub-agent was started with. */
export function firstPrompt({ messages }: ModelRequest): string {
  const first = messages.find(({ role }) => role === "user");
  return blocksOf(first?.content ?? [])
    .map((block) => block.text ?? "")
    .join("\n");
}
