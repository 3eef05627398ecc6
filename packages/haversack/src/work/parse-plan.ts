/**
 * A plan, or a tasks.md, to its tasks. Lenient: plans are written by people and models in many shapes. What is understood:
 *
 * - headings `Task 1: Name` of any level, with numbers such as 1.2 and 10a; in them the parts Files, Steps, Done When (or
 *   Acceptance Criteria), Depends on (or Blocked by) and Skill, as bold labels, plain labels or headings; steps as
 *   `**Step 1: …**`, checkboxes, headings, or the list under Steps; where there is none of these, the numbered list; the sentence
 *   "Depends on Task 1.";
 * - without such headings: numbered checkboxes (`- [ ] 1.1 …`, `- [ ] T001 …`), numbered headings that have one of the parts,
 *   or any checkboxes.
 *
 * What stands below a step stays in the plan: the task says which section it is.
 */
import { cleanLine } from "../base/clean-text.ts";
import { readPlanBody } from "./plan-body.ts";
import { plainLine, readFiles, readTitle, withoutNumber } from "./plan-fields.ts";
import { type PlanLine, readPlanLines } from "./plan-lines.ts";
import type { TaskStep } from "./task.ts";

export interface ParsedPlan {
  /** Of the first heading that is no task. Undefined: there is none. */
  title?: string;
  tasks: PlannedTask[];
  problems: string[];
}

export interface PlannedTask {
  /** As the plan has it: `1`, `1.2`, `10a`. */
  number: string;
  /** The heading's text, by which the section is found again. */
  section: string;
  title: string;
  description?: string;
  acceptanceCriteria?: string;
  /** Relative to the project; a folder ends with a slash. */
  files: string[];
  steps: TaskStep[];
  /** Numbers of other tasks of the plan. */
  dependsOn: string[];
  skill?: string;
  /** All its steps are checked, or its heading says so. */
  isDone: boolean;
  problems: string[];
}

export function parsePlan(text: string): ParsedPlan {
  const lines = readPlanLines(text);
  const tasks = readTaskHeadings(lines, taskHeading) ?? readNumberedItems(lines) ?? readOthers(lines) ?? [];
  const problems =
    tasks.length > 0 ? [] : ["no task was found: a task begins with a heading such as `### Task 1: Name`"];
  checkNumbers(tasks, problems);
  const title = lines.find(({ heading }) => heading?.level === 1 && !taskHeading(heading.text))?.heading?.text;
  const plain = title && plainLine(title);
  return { ...(plain && { title: plain }), tasks, problems };
}

type ReadHeading = (text: string) => { number: string; title: string } | undefined;

const taskHeading: ReadHeading = (text) => {
  const bare = plainLine(text).replace(/^(?:\[[ xX]\]|[✅☑✔⬜🔲]\ufe0f?)\s*/u, "");
  const found = /^Task\s+#?(\d+(?:\.\d+)*[a-z]?)(?!\w|\.\d)\s*[:.)–—-]*\s*(.*)$/i.exec(bare);
  return found ? { number: found[1] as string, title: found[2] ?? "" } : undefined;
};

const numberedHeading: ReadHeading = (text) => {
  const found = /^(\d+(?:\.\d+)*[a-z]?)[.):]?\s+(.+)$/.exec(plainLine(text));
  return found ? { number: found[1] as string, title: found[2] ?? "" } : undefined;
};

function readTaskHeadings(lines: readonly PlanLine[], read: ReadHeading): PlannedTask[] | undefined {
  const tasks: PlannedTask[] = [];
  for (const [index, { heading }] of lines.entries()) {
    const found = heading && read(heading.text);
    if (!found) continue;
    const end = lines.findIndex((line, at) => at > index && line.heading && isEnd(line.heading, heading.level, read));
    const body = readPlanBody(lines.slice(index + 1, end < 0 ? undefined : end));
    const title = readTitle(found.title);
    const isMarked = title.isDone || /^\s*(?:\[[xX]\]|[✅☑✔])/u.test(heading.text);
    tasks.push({
      number: found.number,
      section: cleanLine(heading.text),
      title: title.text || `Task ${found.number}`,
      ...body,
      isDone: isMarked || (body.steps.length > 0 && body.steps.every(({ done }) => done)),
      problems: [...(title.text ? [] : ["the heading has no title"]), ...body.problems],
    });
  }
  return tasks.length > 0 ? tasks : undefined;
}

/** Where a task's section ends: at the next task, or at a heading of its own level or above that is none of its parts. */
function isEnd({ level, text }: { level: number; text: string }, own: number, read: ReadHeading): boolean {
  if (read(text)) return true;
  return level < own || (level === own && !/^(?:step\s+\d|steps|files|done when|acceptance criteria)/i.test(text));
}

/** `1.1 Create the table`, `T001 [P] Create the table` */
const NUMBERED_ITEM = /^(?:(\d+(?:\.\d+)*)[.)]?|T(\d+))\s+(?:\[[A-Z]+\d*\]\s*)*(\S.*)$/;

function readNumberedItems(lines: readonly PlanLine[]): PlannedTask[] | undefined {
  const isTask = ({ item, indent }: PlanLine) =>
    item?.isChecked !== undefined && indent < 2 && NUMBERED_ITEM.test(plainLine(item.text));
  return lines.some(isTask) ? readItems(lines, isTask) : undefined;
}

function readOthers(lines: readonly PlanLine[]): PlannedTask[] | undefined {
  const numbered = readTaskHeadings(lines, numberedHeading)?.filter(
    ({ files, steps, acceptanceCriteria }) => files.length > 0 || steps.length > 0 || acceptanceCriteria !== undefined,
  );
  if (numbered?.length) return numbered;
  const isTask = ({ item, indent }: PlanLine) => item?.isChecked !== undefined && indent < 2;
  return lines.some(isTask) ? readItems(lines, isTask) : undefined;
}

/** Each checkbox of the outermost list is a task, those inside it are its steps. */
function readItems(lines: readonly PlanLine[], isTask: (line: PlanLine) => boolean): PlannedTask[] {
  const starts = lines.flatMap((line, index) => (isTask(line) ? [index] : []));
  return starts.map((start, at) => {
    const line = lines[start] as PlanLine;
    const next = lines.findIndex(({ heading }, index) => index > start && heading);
    const end = Math.min(starts[at + 1] ?? lines.length, next < 0 ? lines.length : next);
    const text = plainLine(line.item?.text ?? "");
    const [, number, mark, rest] = NUMBERED_ITEM.exec(text) ?? [];
    const body = readPlanBody(lines.slice(start + 1, end));
    const named = readFiles(line.item?.text ?? "");
    const title = readTitle(rest ?? withoutNumber(text));
    return {
      number: number ?? (mark ? String(Number(mark)) : String(at + 1)),
      section: cleanLine(text),
      title: title.text || `Task ${at + 1}`,
      ...body,
      files: [...new Set([...named.files, ...body.files])],
      isDone: line.item?.isChecked === true || title.isDone,
      problems: [...named.problems, ...body.problems],
    };
  });
}

/** What can only be seen across tasks. */
function checkNumbers(tasks: PlannedTask[], problems: string[]): void {
  const numbers = new Map<string, PlannedTask>();
  const sections = new Map<string, number>();
  for (const task of tasks) {
    const first = numbers.get(task.number);
    if (first) problems.push(`Task ${task.number} is there twice: "${first.title}" and "${task.title}"`);
    else numbers.set(task.number, task);
    const times = (sections.get(task.section) ?? 0) + 1;
    sections.set(task.section, times);
    if (times > 1) task.section += ` (${times})`;
  }
  for (const task of tasks) {
    const known = task.dependsOn.filter((number) => numbers.has(number) && number !== task.number);
    for (const number of task.dependsOn.filter((other) => !known.includes(other))) {
      const why = number === task.number ? "which is itself" : "which the plan does not have";
      task.problems.push(`depends on Task ${number}, ${why}`);
    }
    task.dependsOn = known;
  }
}
