/** Dependencies between tasks. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { addDependency, listDependencies, removeDependency } from "../../engine/work/dependencies.ts";
import type { DependencyList } from "../../store/work-store.ts";
import { type Call, type Io, type Output, option, sayError } from "../command.ts";
import { commandLine, dim, statusCell, table } from "../print-work.ts";
import { defineWork, type OpenWork, readList, TASKS } from "../work.ts";
import { AGENT, DEPENDENCY_TYPE, listOptions } from "../work-options.ts";

const { limit, "max-tokens": maxTokens } = listOptions(50);

export const command = defineWork(({ options: { add, rm } }) => (add || rm ? "save" : "read"), {
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
  examples: {
    "haversack task dep T4829": "what it waits for, and what waits for it",
    "haversack task dep T4829 --add T1207,T1210": "T4829 waits for both",
    "haversack task dep T4829 --add T1207 --type relates_to": "only notes that they are related",
    "haversack task dep T4829 --rm T1207": "T4829 no longer waits for T1207",
  },
  json: "{id, depends_on?: [{id, title, status, type}], needed_by?: [{id, title, status, type}], related_to?: [{id, title, status, type}], notes?: [text]}, after the change. Several: a list of these, with {id, error} for what failed. If some are left out, a note says how to get them.",
  several: "blocks",
  async run(call, work, taskId) {
    const { add, rm, type } = call.options;
    const changes = [
      ...idsOf("--add", add).map((id) => () => addOne({ taskId, dependsOnId: id, type }, work)),
      ...idsOf("--rm", rm).map((id) => () => removeOne({ taskId, dependsOnId: id }, work)),
    ];
    if (changes.length === 0) return showDependencies(call, work, []);
    const lines: string[] = [];
    const refused: string[] = [];
    for (const change of changes) {
      const { kind, text } = await change();
      (kind === "done" ? lines : refused).push(text);
    }
    // With --json, {id, error} has them all.
    if (lines.length === 0 && call.json) return { text: refused.join("; ") };
    for (const text of refused) sayError(call.io, text);
    const code = refused.length > 0 ? 1 : 0;
    if (lines.length === 0) return code;
    const { data } = call.json ? await showDependencies(call, work, lines) : { data: undefined };
    return { data, text: lines.join("\n"), isVerbatim: true, code };
  },
});

function idsOf(name: string, given: readonly string[] | undefined): string[] {
  const ids = readList(given) ?? [];
  if (given && ids.length === 0) throw new HaversackError("usage", `${name} must not be empty: name a task`);
  return ids;
}

type Change = { kind: "done" | "refused"; text: string };

async function addOne(input: Parameters<typeof addDependency>[0], work: OpenWork): Promise<Change> {
  const outcome = await addDependency(input, work);
  if (outcome.kind === "refused") return outcome;
  const { dependency, kind, note } = outcome;
  if (note) return { kind: "done", text: `${note}.` };
  const verb = dependency.type === "relates_to" ? "relates to" : "waits for";
  const already = kind === "unchanged" ? " already" : "";
  return { kind: "done", text: `${dependency.taskId} ${verb} ${dependency.dependsOnId}${already}.` };
}

async function removeOne(input: Parameters<typeof removeDependency>[0], work: OpenWork): Promise<Change> {
  const { removed } = await removeDependency(input, work);
  const { id } = await work.store.findId(input.taskId);
  const { id: other } = await work.store.findId(input.dependsOnId);
  if (removed) return { kind: "done", text: `${id} no longer depends on ${other}.` };
  return { kind: "refused", text: `${id} does not depend on ${other}; \`haversack task dep ${id}\` shows what it has` };
}

async function showDependencies(call: Call, work: OpenWork, notes: readonly string[]): Promise<Output> {
  const { io } = call;
  const [taskId = ""] = call.arguments;
  const { limit, "max-tokens": maxTokens } = call.options as { limit?: number; "max-tokens"?: number };
  const found = await listDependencies({ taskId, limit, maxTokens }, work);
  const { dependsOn, neededBy, relatedTo, view, leftOut } = found;
  const { id } = await work.store.findId(taskId);
  const missing = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
  const lines = () => [
    ...part(io, `${id} depends on`, dependsOn),
    ...part(io, `${id} is needed by`, neededBy),
    ...part(io, `${id} is related to`, relatedTo),
  ];
  const none = missing === 0 ? `${id} depends on nothing, and nothing depends on it.` : "";
  const all = Math.max(
    dependsOn.length + (leftOut.depends_on ?? 0),
    neededBy.length + (leftOut.needed_by ?? 0),
    relatedTo.length + (leftOut.related_to ?? 0),
  );
  const more = `${missing} left out; \`${commandLine(call, { limit: all, "max-tokens": undefined })}\` shows all`;
  return {
    data: { id, ...view, ...(notes.length > 0 && { notes }) },
    text: () => lines().join("\n") || none,
    isVerbatim: true,
    ...(missing > 0 && { more }),
  };
}

function part(io: Io, heading: string, tasks: DependencyList["dependsOn"]): string[] {
  if (tasks.length === 0) return [];
  const rows = tasks.map(({ id, status, type, title }) => [`  ${id}`, statusCell(status), dim(type), cleanLine(title)]);
  return [heading, ...table(io, rows)];
}
