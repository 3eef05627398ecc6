import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import type { TaskCounts } from "../../store/work-store.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { type Cell, commandLine, statusCell, table } from "../print-work.ts";
import { type OpenWork, readWork } from "../work.ts";
import { readTree, type TreeNode } from "../work-tree.ts";

const DEFAULT_ROWS = 100;

export const spec: CommandSpec = {
  about:
    "Shows epics, their stories, their tasks and sub-tasks with their statuses; then stories without an epic and tasks without a story. What is done is only counted.",
  arguments: [{ name: "ID", about: "only this epic or story" }],
  options: {
    limit: { type: "integer", value: "N", minimum: 1, about: `How many rows (default ${DEFAULT_ROWS}).` },
    all: { type: "boolean", about: "What is done too." },
  },
  examples: [
    { run: "haversack tree", says: "everything that is open" },
    { run: "haversack tree E4829 --all", says: "one epic, with what is done" },
  ],
  json: "[{kind, id, title, status, done?, stories?: [{…, tasks?: [{id, title, status, tasks?}]}]}]: done counts tasks that are not listed. What was left out is said on standard error.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const { io, json, options } = call;
    const limit = (options["limit"] as number | undefined) ?? DEFAULT_ROWS;
    const root = await findRoot(call, work);
    const { nodes, leftOut } = await readTree(work.store, {
      limit,
      isAll: options["all"] === true,
      at: work.by.at,
      ...(root && { root }),
    });
    if (json) io.out(`${JSON.stringify(nodes.map(view))}\n`);
    else if (nodes.length === 0) io.out('Nothing is open; `haversack task create "TITLE"` makes a task.\n');
    else
      io.out(
        `${table(
          io,
          nodes.flatMap((node) => rows(node, 0)),
        ).join("\n")}\n`,
      );
    if (leftOut > 0) {
      const more = commandLine("tree", call, { limit: limit + leftOut });
      const line = `${limit} of ${limit + leftOut} rows; \`${more}\` shows all`;
      if (json) io.err(`haversack: ${line}\n`);
      else io.out(`\n${line}.\n`);
    }
    return 0;
  });
}

async function findRoot(call: Call, { store }: OpenWork): Promise<{ kind: "epic" | "story"; id: string } | undefined> {
  const [wanted] = call.arguments;
  if (wanted === undefined) return undefined;
  const { kind, id } = await store.findId(wanted);
  if (kind === "epic" || kind === "story") return { kind, id };
  throw new HaversackError("usage", `tree takes an epic or a story, but ${id} is a ${kind}`);
}

function rows({ kind, id, title, status, counts, children, folded }: TreeNode, depth: number): Cell[][] {
  const indent = "  ".repeat(depth);
  const own = [
    { text: `${indent}${id}`, ...(kind !== "task" && { style: "bold" as const }) },
    statusCell(status),
    { text: `${cleanLine(title)}${counts ? progress(counts) : ""}` },
  ];
  const rest = folded > 0 ? [[{ text: `${indent}  ${folded} done`, style: "dim" as const }]] : [];
  return [own, ...children.flatMap((child) => rows(child, depth + 1)), ...rest];
}

/** ` (3 of 9 done)`; archived ones do not count. */
function progress({ ready: _, archived: __, ...counts }: TaskCounts): string {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return all === 0 ? " (no tasks)" : ` (${counts.done} of ${all} done)`;
}

function view({ kind, id, title, status, children, folded, counts }: TreeNode): object {
  const done = kind === "story" ? folded : 0;
  return {
    kind,
    id,
    title,
    status,
    ...(children.length === 0 && status === "done" && counts ? { done: counts.done } : done > 0 && { done }),
    ...(children.length > 0 && {
      [kind === "epic" ? "stories" : "tasks"]: children.map((child) =>
        child.kind === "task" ? viewPart(child) : view(child),
      ),
    }),
  };
}

/** Inside of a list of tasks: its kind is known. */
function viewPart({ id, title, status, children }: TreeNode): object {
  return { id, title, status, ...(children.length > 0 && { tasks: children.map(viewPart) }) };
}
