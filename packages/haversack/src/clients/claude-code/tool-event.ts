/** Claude Code's payloads after a tool call (seen in 2.1.325) to what the call did. A tool it does not know did nothing we keep. */
import type { ToolEvent } from "../../work/capture/capture.ts";
import { pathOf } from "./events.ts";
import { type Fields, object, text } from "./fields.ts";

export function readClaudeTool(payload: Fields): { tool?: ToolEvent; skill?: string } {
  const input = object(payload["tool_input"]);
  const response = payload["tool_response"];
  const error = text(payload["error"]);
  const isError = payload["hook_event_name"] === "PostToolUseFailure";
  const path = pathOf(input);
  const common = isError ? { isError } : {};
  switch (payload["tool_name"]) {
    case "Write":
      return path ? { tool: { tool: "write", path, ...common } } : {};
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return path ? { tool: { tool: "edit", path, ...common } } : {};
    case "Read":
      return path ? { tool: { tool: "read", path, ...common } } : {};
    case "Bash": {
      const command = text(input["command"]);
      if (!command || payload["is_interrupt"] === true) return {};
      const { stdout, stderr, gitOperation, backgroundTaskId } = object(response);
      const isBackground = backgroundTaskId !== undefined;
      const commit = text(object(object(gitOperation)["commit"])["sha"]);
      const output = isError ? (error ?? "") : [text(stdout), text(stderr)].filter(Boolean).join("\n");
      const exitCode = isError ? Number(/^Exit code (\d+)/.exec(error ?? "")?.[1] ?? 1) : 0;
      return {
        tool: { tool: "shell", command, output, exitCode, isError, isBackground, ...(commit && { commitSha: commit }) },
      };
    }
    case "Skill": {
      const skill = text(input["skill"]);
      return skill && !isError ? { tool: { tool: "other" }, skill } : {};
    }
    case "TaskCreate": {
      const { id, subject } = object(object(response)["task"]);
      return { tool: { tool: "todo", isPartial: true, todos: [{ id, subject, status: "pending" }], ...common } };
    }
    case "TaskUpdate":
      return { tool: { tool: "todo", isPartial: true, todos: [input], ...common } };
    case "TaskList": {
      const { tasks } = object(response);
      // Partial: a whole list would drop the ids that a later update refers to.
      return Array.isArray(tasks) ? { tool: { tool: "todo", isPartial: true, todos: tasks } } : {};
    }
    case "TodoWrite":
      return Array.isArray(input["todos"]) ? { tool: { tool: "todo", todos: input["todos"] } } : {};
    default:
      return {};
  }
}
