/**
 * What a tool event says about the work: files changed, test results, commits, errors, the place in the plan. Pure; the
 * answer is a patch for `mergeWip`. The hook loads this: no imports but our own.
 *
 * Nothing is made up (an unreadable count is `null`), what is settled goes (a green run takes the failing test, a commit
 * its files, a success the errors of its tool), and all text is masked and cut before it is kept.
 */
import { captureShell } from "./capture-shell.ts";
import { planPosition } from "./plan-position.ts";
import { isOutside, projectPath } from "./project-path.ts";
import type { WipPatch } from "./wip.ts";

/** A tool call that has ended, in no client's words. */
export interface ToolEvent {
  tool: "edit" | "write" | "shell" | "read" | "todo" | "other";
  path?: string;
  /** When one call changed several files. */
  paths?: readonly string[];
  command?: string;
  /** What the command printed, standard error too. */
  output?: string;
  isError?: boolean;
  exitCode?: number;
  /** It goes on in the background: its output says nothing yet. */
  isBackground?: boolean;
  /** The hash, when the client itself names the commit that the command made. */
  commitSha?: string;
  /** The client's list as it stands in the tool's input; with `isPartial` single tasks of it, with their ids. */
  todos?: unknown;
  isPartial?: boolean;
  /** The project's root: paths inside it are kept relative to it. */
  root?: string;
  /** Where the command ran; the root when it is not known. */
  cwd?: string;
}

const FILES_MAX = 50;

/** Undefined: nothing worth keeping. */
export function captureEvent(event: ToolEvent): WipPatch | undefined {
  if (event.tool === "todo") return event.isError ? undefined : planPosition(event.todos, event);
  if (event.tool === "shell") return captureShell(event);
  return event.tool === "edit" || event.tool === "write" ? captureEdit(event) : undefined;
}

function captureEdit({ path, paths = path ? [path] : [], isError, root, cwd }: ToolEvent): WipPatch | undefined {
  const files = paths.slice(0, FILES_MAX).map((file) => projectPath(file, { root, cwd }));
  if (isError || files.length === 0) return undefined;
  // What lies outside the project is no change to commit.
  const inside = root ? files.filter((file) => !isOutside(file)) : files;
  if (inside.length === 0) return { files_modified: files };
  return { files_modified: files, uncommitted_files: inside, uncommitted_changes: true };
}
