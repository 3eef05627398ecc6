/** Reads the text below a task's heading into its parts, line by line. */
import { stripControl } from "../../base/clean-text.ts";
import type { TaskStep } from "../task.ts";
import type { PlanLine } from "./parse-plan.ts";
import {
  type PlanPart,
  partOf,
  plainLine,
  readDependence,
  readDependsOn,
  readFiles,
  readLabel,
  readStep,
  readTitle,
  withoutNumber,
} from "./plan-fields.ts";

export interface PlanBody {
  description?: string;
  acceptanceCriteria?: string;
  /** Relative to the project; folders end with a slash. */
  files: string[];
  steps: TaskStep[];
  /** Numbers of other tasks in the plan. */
  dependsOn: string[];
  skill?: string;
  problems: string[];
}

export function readPlanBody(lines: readonly PlanLine[]): PlanBody {
  const reader = new BodyReader();
  for (const line of lines) reader.read(line);
  return reader.body();
}

/** step: below a step, where everything except the next step stays in the plan. */
type Place = PlanPart | "step";

type ListKind = "checkboxes" | "numbers" | "bullets";

class BodyReader {
  #place: Place = "description";
  /** The step or criterion that the next line may continue, and its indentation. */
  #open: { add: (text: string) => void; indent: number } | undefined;
  #isAfterBlank = false;
  /** The part began with a list item, so the next item of the same level ends it. */
  #partIndent: number | undefined;
  /**
   * The files or criteria followed their label on the same line. Then lines after a blank line are not files, and another list is
   * not criteria.
   */
  #isInline = false;
  /** The list kind of the criteria, once known. */
  #criteriaList: ListKind | undefined;
  readonly #description: string[] = [];
  readonly #criteria: string[] = [];
  readonly #files = new Set<string>();
  readonly #steps: TaskStep[] = [];
  /**
   * A numbered list in the text. If the task has no other steps, the list becomes its steps and is removed from the description, with the
   * text below each entry.
   */
  readonly #numbered: TaskStep[] = [];
  readonly #numberedLines = new Set<number>();
  readonly #dependsOn: string[] = [];
  #skill: string | undefined;
  readonly #problems: string[] = [];

  read(line: PlanLine): void {
    if (line.item && this.#partIndent !== undefined && line.indent <= this.#partIndent) this.#enter("description");
    if (line.isCode) {
      this.#keep(line.text, line.indent);
      this.#open = undefined;
    } else if (line.text.trim() === "") {
      this.#keep("", 0);
      this.#isAfterBlank = true;
      return;
    } else if (line.heading) this.#readHeading(line.heading.text);
    else if (/^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/.test(line.text)) this.#open = undefined;
    else if (line.item?.isChecked !== undefined) this.#readCheckbox(line, line.item.text, line.item.isChecked);
    else this.#readText(line);
    this.#isAfterBlank = false;
  }

  body(): PlanBody {
    const isNumbered = this.#steps.length === 0 && this.#numbered.length > 0;
    const description = block(this.#description.filter((_, at) => !isNumbered || !this.#numberedLines.has(at)));
    const criteria = block(this.#criteria);
    return {
      ...(description && { description }),
      ...(criteria && { acceptanceCriteria: criteria }),
      files: [...this.#files],
      steps: isNumbered ? this.#numbered : this.#steps,
      dependsOn: [...new Set(this.#dependsOn)],
      ...(this.#skill && { skill: this.#skill }),
      problems: this.#problems,
    };
  }

  #readHeading(text: string): void {
    const step = readStep(text);
    if (step !== undefined) {
      this.#addStep(step, { indent: 0 });
      return;
    }
    this.#open = undefined;
    const part = partOf(text);
    this.#enter(part ?? "description");
    if (!part) this.#description.push(`**${plainLine(text)}**`);
  }

  #readCheckbox({ indent }: PlanLine, text: string, isChecked: boolean): void {
    const isStep = readStep(text) !== undefined || this.#endsCriteria("checkboxes", indent);
    if (this.#place === "criteria" && !isStep) this.#addCriterion(text, indent);
    else this.#addStep(readStep(text) ?? withoutNumber(plainLine(text)), { indent, isChecked });
  }

  #readText(line: PlanLine): void {
    const { text, indent, item } = line;
    const isOrdered = item?.isOrdered === true;
    const step = isOrdered ? undefined : readStep(item?.text ?? text.trim());
    if (step !== undefined && (item || /^\s*(?:\*\*|__)/.test(text))) {
      this.#addStep(step, { indent });
      return;
    }
    // `**Depends on:** Task 1 | **Files:** a.ts`
    const pieces = isOrdered ? [text] : text.split(/\s+\|\s+(?=\*\*)/);
    const labels = pieces.map(readLabel);
    const isListed = item !== undefined && (this.#place === "steps" || this.#place === "criteria");
    if (!isOrdered && labels[0] && (labels[0].part || !isListed) && !(this.#place === "step" && !labels[0].part)) {
      for (const [at, label] of labels.entries()) this.#readPart(label, pieces[at] as string, indent);
      if (item) this.#partIndent = indent;
      return;
    }
    if (this.#goesOn(line)) this.#open?.add(plainLine(text));
    else if (this.#place !== "steps" && this.#readDependence(item?.text ?? text)) return;
    else if (item) this.#readItem(line, item.text);
    else this.#readParagraph(text, indent);
  }

  /** "Depends on Task 1." as a sentence. Returns true if the line contains nothing else. */
  #readDependence(text: string): boolean {
    const found = readDependence(text);
    if (!found) return false;
    this.#dependsOn.push(...found.numbers);
    return found.isWhole;
  }

  /**
   * Whether a list after the criteria holds the steps: the criteria followed their label on the same line, or are a list of another
   * kind. Bullets are never steps without a label.
   */
  #endsCriteria(kind: ListKind, indent: number): boolean {
    if (this.#place !== "criteria") return false;
    const isInside = this.#open !== undefined && indent > this.#open.indent + 1;
    const isOther = this.#isInline || (this.#criteriaList !== undefined && this.#criteriaList !== kind);
    if (!isInside && kind !== "bullets" && isOther) return true;
    if (!isInside) this.#criteriaList ??= kind;
    return false;
  }

  #enter(place: Place): void {
    this.#place = place;
    this.#criteriaList = undefined;
    this.#partIndent = undefined;
    this.#isInline = false;
  }

  #readPart(label: ReturnType<typeof readLabel>, piece: string, indent: number): void {
    this.#open = undefined;
    const { part, rest = "" } = label ?? {};
    if (part === "depends") {
      const { numbers, isAboutTasks } = readDependsOn(rest);
      this.#dependsOn.push(...numbers);
      this.#enter(rest === "" ? "depends" : "description");
      if (!isAboutTasks && rest !== "") this.#description.push(piece.trim());
      return;
    }
    if (part === "skill") {
      this.#setSkill(rest);
      this.#enter(rest === "" ? "skill" : "description");
      return;
    }
    this.#enter(part ?? "description");
    if (part === "files") this.#isInline = this.#addFiles(rest) > 0;
    else if (part === "criteria" && rest) {
      this.#addCriterion(rest, indent);
      // "Done when all of these hold:" continues below.
      this.#isInline = !/[:,]$/.test(plainLine(rest));
    } else if (part === "steps" && rest) this.#addStep(plainLine(rest), { indent, isIn: "steps" });
    else if (part === "description" && rest) this.#description.push(rest);
    else if (!part) this.#description.push(piece.trim());
  }

  #readItem({ indent, item, text }: PlanLine, words: string): void {
    const isNested = this.#open !== undefined && indent > this.#open.indent + 1;
    if (this.#place === "files") {
      const isOver = this.#isAfterBlank && this.#files.size > 0;
      if (!(isOver && (this.#isInline || readFiles(words).files.length === 0))) {
        this.#addFiles(words);
        return;
      }
      this.#enter("description");
    }
    if (this.#endsCriteria(item?.isOrdered ? "numbers" : "bullets", indent)) this.#enter("description");
    if (this.#place === "depends") this.#dependsOn.push(...readDependsOn(words).numbers);
    else if (this.#place === "skill") this.#setSkill(words);
    else if (this.#place === "criteria") this.#addCriterion(words, indent);
    else if (this.#place === "steps") {
      if (!isNested) this.#addStep(withoutNumber(plainLine(words)), { indent, isIn: "steps" });
    } else if (this.#place === "description") {
      if (item?.isOrdered && indent < 2) {
        const { text: title, isDone } = readTitle(words);
        this.#numbered.push({ text: title, done: isDone });
        this.#numberedLines.add(this.#description.length);
      }
      this.#describe(text.trimEnd(), indent);
    }
  }

  #readParagraph(text: string, indent: number): void {
    if (this.#place === "files" && !this.#isAfterBlank) this.#addFiles(text);
    else if (this.#place === "criteria") this.#criteria.push(text.trim());
    else if (this.#place === "depends") {
      this.#dependsOn.push(...readDependsOn(text).numbers);
      this.#enter("description");
    } else if (this.#place !== "step" && this.#place !== "steps") {
      if (this.#place !== "description") this.#enter("description");
      this.#describe(text.trimEnd(), indent);
    }
  }

  /** Whether the line continues a list item that was broken into lines. */
  #goesOn({ indent, item }: PlanLine): boolean {
    return this.#open !== undefined && !item && !this.#isAfterBlank && indent > this.#open.indent;
  }

  #addStep(text: string, { indent, isChecked, isIn }: { indent: number; isChecked?: boolean; isIn?: "steps" }): void {
    this.#place = isIn ?? (this.#place === "steps" ? "steps" : "step");
    const read = readTitle(text);
    if (read.text === "") return;
    const step: TaskStep = { text: read.text, done: isChecked ?? read.isDone };
    this.#steps.push(step);
    this.#open = { indent, add: (more) => (step.text = `${step.text} ${more}`) };
  }

  #addCriterion(text: string, indent: number): void {
    const at = this.#criteria.push(`${" ".repeat(Math.min(indent, 8))}- ${text.trim()}`) - 1;
    this.#open = { indent, add: (more) => (this.#criteria[at] += ` ${more}`) };
  }

  /** Returns how many files were found. */
  #addFiles(text: string): number {
    const { files, problems } = readFiles(text);
    for (const file of files) this.#files.add(file);
    this.#problems.push(...problems);
    return files.length;
  }

  #setSkill(text: string): void {
    const skill = plainLine(text.replace(/[`@]/g, ""));
    if (skill !== "" && !/^(?:none|n\/a)$/i.test(skill)) this.#skill = skill;
  }

  /** Indented text below a line of the numbered list belongs to that line. */
  #describe(text: string, indent: number): void {
    const at = this.#description.length;
    const isBelow = text === "" || indent >= 2;
    if (isBelow && this.#numberedLines.has(at - 1)) this.#numberedLines.add(at);
    this.#description.push(text);
  }

  #keep(text: string, indent: number): void {
    if (this.#place === "description") this.#describe(text, indent);
    else if (this.#place === "criteria") this.#criteria.push(text);
  }
}

/** Joins lines, without blank lines at the ends and with at most one in a row. */
function block(lines: readonly string[]): string {
  return stripControl(lines.join("\n"))
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
