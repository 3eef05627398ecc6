/** Dependencies between tasks. */
import { cleanLine } from "../../base/clean-text.ts";
import { addDependency, listDependencies, removeDependency } from "../../engine/work/dependencies.ts";
import type { DependencyList } from "../../store/work-store.ts";
import { type Call, type CommandSpec, type ExitCode, eachOne, type Io, jsonLine, option, sayNote } from "../command.ts";
import { commandLine, statusCell, table } from "../print-work.ts";
import { inputOf, type OpenWork, openWork, readList, refuse, TASKS } from "../work.ts";
import { AGENT, DEPENDENCY_TYPE, listOptions } from "../work-options.ts";

const { limit, "max-tokens": maxTokens } = listOptions(50);

export const spec: CommandSpec = {
  about:
    "Shows what tasks depend on, the tasks that need them, and related tasks. With --add they wait for others, with --rm they no longer do. A dependency that would create a cycle is refused, and the cycle is shown.",
  arguments: [TASKS],
  options: {
    add: option("ID", "Wait for this task; repeat it, or use commas.", { repeat: true }),
    rm: option("ID", "No longer wait for this task; repeat it, or use commas.", { repeat: true }),
    type: DEPENDENCY_TYPE,
    agent: AGENT,
    limit: { ...limit, about: "Show at most N of each kind (default 50)." },
    "max-tokens": maxTokens,
  },
  examples: [
    { run: "haversack task dep T4829", says: "what it waits for, and what waits for it" },
    { run: "haversack task dep T4829 --add T1207,T1210", says: "T4829 waits for both" },
    { run: "haversack task dep T4829 --add T1207 --type relates_to", says: "only notes that they are related" },
    { run: "haversack task dep T4829 --rm T1207", says: "T4829 no longer waits for T1207" },
  ],
  json: "{id, depends_on?: [{id, title, status, type}], needed_by?: [{id, title, status, type}], related_to?: [{id, title, status, type}], notes?: [text]}, after the change. Several: a list of these, with {id, error} for what failed. If some are left out, a note says how to get them.",
};

export const run = eachOne(showOrChange);

async function showOrChange(call: Call): Promise<ExitCode> {
  const add = readList(call.options["add"]) ?? [];
  const rm = readList(call.options["rm"]) ?? [];
  if (add.length + rm.length === 0) return showDependencies(call, await openWork(call, "read"), []);
  const work = await openWork(call, "save");
  const lines: string[] = [];
  let code: ExitCode = 0;
  for (const [change, ids] of [
    [addOne, add],
    [removeOne, rm],
  ] as const) {
    for (const id of ids) {
      const done = await change(call, id, work);
      if (done.kind === "refused") code = refuse(call, done);
      else lines.push(done.text);
    }
  }
  if (call.json && lines.length > 0) await showDependencies(call, work, lines);
  else if (call.json) return code;
  else for (const line of lines) call.io.out(`${line}\n`);
  return code;
}

type Change = { kind: "done" | "refused"; text: string };

async function addOne(call: Call, dependsOnId: string, work: OpenWork): Promise<Change> {
  const input = inputOf<Parameters<typeof addDependency>[0]>(call, "type");
  const outcome = await addDependency({ taskId: call.arguments[0] ?? "", dependsOnId, ...input }, work);
  if (outcome.kind === "refused") return outcome;
  const { dependency, kind, note } = outcome;
  if (note) return { kind: "done", text: `${note}.` };
  const verb = dependency.type === "relates_to" ? "relates to" : "waits for";
  const already = kind === "unchanged" ? " already" : "";
  return { kind: "done", text: `${dependency.taskId} ${verb} ${dependency.dependsOnId}${already}.` };
}

async function removeOne(call: Call, dependsOnId: string, work: OpenWork): Promise<Change> {
  const [taskId = ""] = call.arguments;
  const { removed } = await removeDependency({ taskId, dependsOnId }, work);
  const { id } = await work.store.findId(taskId);
  const { id: other } = await work.store.findId(dependsOnId);
  if (removed) return { kind: "done", text: `${id} no longer depends on ${other}.` };
  return { kind: "refused", text: `${id} does not depend on ${other}; \`haversack task dep ${id}\` shows what it has` };
}

async function showDependencies(call: Call, work: OpenWork, notes: readonly string[]): Promise<ExitCode> {
  const { io, json } = call;
  const [taskId = ""] = call.arguments;
  const input = inputOf<Parameters<typeof listDependencies>[0]>(call, "limit", "max-tokens");
  const { dependsOn, neededBy, relatedTo, view, leftOut } = await listDependencies({ ...input, taskId }, work);
  const { id } = await work.store.findId(taskId);
  const missing = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
  const lines = [
    ...part(io, `${id} depends on`, dependsOn),
    ...part(io, `${id} is needed by`, neededBy),
    ...part(io, `${id} is related to`, relatedTo),
  ];
  if (json) io.out(jsonLine({ id, ...view, ...(notes.length > 0 && { notes }) }));
  else if (lines.length > 0) io.out(`${lines.join("\n")}\n`);
  else if (missing === 0) io.out(`${id} depends on nothing, and nothing depends on it.\n`);
  if (missing > 0) {
    const all = Math.max(
      dependsOn.length + (leftOut.depends_on ?? 0),
      neededBy.length + (leftOut.needed_by ?? 0),
      relatedTo.length + (leftOut.related_to ?? 0),
    );
    const line = `${missing} left out; \`${commandLine(call, { limit: all, "max-tokens": undefined })}\` shows all`;
    if (json) sayNote(io, line);
    else io.out(`\n${line}.\n`);
  }
  return 0;
}

function part(io: Io, heading: string, tasks: DependencyList["dependsOn"]): string[] {
  if (tasks.length === 0) return [];
  const rows = tasks.map(({ id, status, type, title }) => [
    { text: `  ${id}` },
    statusCell(status),
    { text: type, style: "dim" as const },
    { text: cleanLine(title) },
  ]);
  return [heading, ...table(io, rows)];
}
