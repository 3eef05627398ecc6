/**
 * Reads the tasks from a plan or a tasks.md. Lenient: people and models write plans in many shapes. It understands:
 *
 * - headings `Task 1: Name` of any level, with numbers such as 1.2 and 10a; in them the parts Files, Steps, Done When (or
 *   Acceptance Criteria), Depends on (or Blocked by) and Skill, as bold labels, plain labels or headings; steps as
 *   `**Step 1: …**`, checkboxes, headings, or the list under Steps; where there is none of these, the numbered list; the sentence
 *   "Depends on Task 1.";
 * - without such headings: numbered checkboxes (`- [ ] 1.1 …`, `- [ ] T001 …`), numbered headings that have one of the parts,
 *   or any checkboxes.
 *
 * The text below a step stays in the plan: the task names its section.
 */
import { cleanLine } from "../../base/clean-text.ts";
import { isSettled, type Task } from "../task.ts";
import { type PlanBody, readPlanBody } from "./plan-body.ts";
import { plainLine, readFiles, readTitle, withoutNumber } from "./plan-fields.ts";

export interface ParsedPlan {
  /** Text of the first heading that is not a task. Undefined: there is none. */
  title?: string;
  tasks: PlannedTask[];
  problems: string[];
}

export interface PlannedTask extends PlanBody {
  /** As written in the plan: `1`, `1.2`, `10a`. */
  number: string;
  /** The heading's text, used to find the section again. */
  section: string;
  title: string;
  /** All its steps are checked, or its heading is marked as done. */
  isDone: boolean;
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

/** A task's section ends at the next task, or at a heading of the same or a higher level that is not one of its parts. */
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

/** Each checkbox of the outermost list is a task; nested ones are its steps. */
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

/** Checks that involve several tasks. */
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

// The lines of a Markdown plan, each with its type. Code fences, comments and frontmatter contain no structure.

export interface PlanLine {
  /** From 1. */
  number: number;
  /** Without its line end. */
  text: string;
  /** In columns; a tab counts up to the next multiple of four. */
  indent: number;
  isCode: boolean;
  heading?: { level: number; text: string };
  item?: ListItem;
}

export interface ListItem {
  text: string;
  isOrdered: boolean;
  /** Undefined: it has no checkbox. */
  isChecked?: boolean;
}

/** No heading, label or list item is longer. Some of our patterns take quadratic time on a line. */
const LONGEST_LINE = 2000;

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const ITEM = /^\s*(?:[-*+]|(\d{1,6})[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/;

export function readPlanLines(text: string): PlanLine[] {
  const lines = withoutComments(text.replace(/^\ufeff/, "")).split(/\r\n|\r|\n/);
  const first = frontmatterEnd(lines);
  let fence: string | undefined;
  return lines.map((line, index): PlanLine => {
    const read = { number: index + 1, text: line, indent: indentOf(line) };
    if (index < first) return { ...read, text: "", isCode: true };
    if (line.length > LONGEST_LINE) return { ...read, isCode: true };
    const [, marks, after = ""] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      if (marks?.startsWith(fence) && after.trim() === "") fence = undefined;
      return { ...read, isCode: true };
    }
    // A line such as ```` ```a``` ```` is inline code, not a fence.
    if (marks && !(marks[0] === "`" && after.includes("`"))) {
      fence = marks;
      return { ...read, isCode: true };
    }
    const [, level, heading] = HEADING.exec(line) ?? [];
    if (level) return { ...read, isCode: false, heading: { level: level.length, text: (heading ?? "").trim() } };
    const found = ITEM.exec(line);
    if (!found) return { ...read, isCode: false };
    const [, number, check, item = ""] = found;
    return {
      ...read,
      isCode: false,
      item: {
        text: item.trim(),
        isOrdered: number !== undefined,
        ...(check !== undefined && { isChecked: check !== " " }),
      },
    };
  });
}

/** Replaces comments with blanks but keeps line ends, so line numbers stay correct. An unclosed comment is not a comment. */
function withoutComments(text: string): string {
  if (!text.includes("<!--")) return text;
  const lastEnd = text.lastIndexOf("-->");
  let fence: string | undefined;
  let isComment = false;
  let offset = 0;
  return text
    .split(/(\r\n|\r|\n)/)
    .map((part) => {
      const start = offset;
      offset += part.length;
      const [, marks] = FENCE.exec(part) ?? [];
      if (!isComment && marks) {
        if (fence === undefined) fence = marks;
        else if (marks.startsWith(fence)) fence = undefined;
      }
      if (fence !== undefined || /^[\r\n]+$/.test(part)) return part;
      let rest = part;
      let kept = "";
      while (rest !== "") {
        const at = rest.indexOf(isComment ? "-->" : "<!--");
        if (at < 0 || (!isComment && start + part.length - rest.length + at > lastEnd)) {
          if (!isComment) kept += rest;
          break;
        }
        if (!isComment) kept += rest.slice(0, at);
        rest = rest.slice(at + (isComment ? 3 : 4));
        isComment = !isComment;
      }
      return kept;
    })
    .join("");
}

/** The number of frontmatter lines, or 0. */
function frontmatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  return end < 0 ? 0 : end + 1;
}

function indentOf(line: string): number {
  let column = 0;
  for (const char of line) {
    if (char === " ") column++;
    else if (char === "\t") column += 4 - (column % 4);
    else break;
  }
  return column;
}

// Matches stored tasks to the tasks of an edited plan: by section, else by title (renumbered), else by number (renamed). A finished
// task is never matched by number alone: a new task would start as done.

export interface PlanMatch {
  /** In the plan's order. */
  pairs: { planned: PlannedTask; task?: Task }[];
  /** Stored tasks that are no longer in the plan. */
  gone: Task[];
}

export function matchPlan(planned: readonly PlannedTask[], stored: readonly Task[]): PlanMatch {
  const found = new Map<PlannedTask, Task>();
  const left = new Set(stored);
  const match = (isSame: (entry: PlannedTask, task: Task) => boolean): void => {
    for (const entry of planned) {
      if (found.has(entry)) continue;
      const task = [...left].find((candidate) => isSame(entry, candidate));
      if (!task) continue;
      found.set(entry, task);
      left.delete(task);
    }
  };
  match(({ section }, task) => section === task.planSection);
  match(({ title }, task) => plain(title) === plain(task.title));
  match(({ number }, task) => !isSettled(task.status) && number === planNumber(task.planSection ?? ""));
  return {
    pairs: planned.map((entry) => {
      const task = found.get(entry);
      return { planned: entry, ...(task && { task }) };
    }),
    gone: [...left],
  };
}

/** `Task 1.2: Name` and `1.2 Name` to `1.2`. */
export function planNumber(section: string): string | undefined {
  return /^\W*(?:Task\s+#?|T0*(?=\d))?(\d+(?:\.\d+)*[a-z]?)\b/i.exec(section)?.[1];
}

function plain(title: string): string {
  return title
    .toLowerCase()
    .replace(/[\s`*_]+/g, " ")
    .trim();
}
