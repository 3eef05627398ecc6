/** Parsers for the fields of a plan: labels, file lists, dependencies, step texts. */
import { cleanLine } from "../../base/clean-text.ts";

export type PlanPart = "files" | "steps" | "criteria" | "depends" | "skill" | "description";

const PARTS: readonly [RegExp, PlanPart][] = [
  [/^files?(?: (?:to )?(?:create|change|modify|touch|edit|work on|affected|changed|involved))?$/, "files"],
  [/^(?:implementation )?steps$|^(?:sub-?tasks|checklist|to-?do)$/, "steps"],
  [/^done when$|^(?:acceptance|success|exit|completion) criteria$|^acceptance$|^definition of done$/, "criteria"],
  [/^depends on$|^dependenc(?:y|ies)$|^blocked by$|^requires$|^prerequisites?$/, "depends"],
  [/^(?:required )?(?:sub-?)?skills?$/, "skill"],
  [/^(?:task )?description$/, "description"],
];

export interface PlanLabel {
  /** Undefined: a label that we do not know. */
  part?: PlanPart;
  /** The text after the label. */
  rest: string;
}

/** `**Files:** …`, `**Files**`, `- **Done when**: …`, `Depends on: …`. Plain words are labels only if we know them. */
export function readLabel(text: string): PlanLabel | undefined {
  const line = text
    .trim()
    .replace(/^(?:>\s*|[-*+]\s+)+/, "")
    .replace(/^_([^_].*[^_])_$/, "$1");
  const bold = /^(\*\*|__)(.+?)\1\s*(:?)\s*(.*)$/.exec(line);
  if (bold) {
    const [, , inner = "", colon, after = ""] = bold;
    const at = inner.indexOf(":");
    if (at < 0 && !colon && after !== "") return undefined;
    const part = partOf(at < 0 ? inner : inner.slice(0, at));
    const rest = `${at < 0 ? "" : inner.slice(at + 1)} ${after}`.trim();
    return { ...(part && { part }), rest };
  }
  const [, name = "", rest = ""] = /^([A-Za-z][A-Za-z_ -]{2,30}):\s*(.*)$/.exec(line) ?? [];
  const part = partOf(name);
  return part && { part, rest: rest.trim() };
}

export function partOf(name: string): PlanPart | undefined {
  const words = name
    .toLowerCase()
    .replace(/[_\s]+/g, " ")
    .replace(/[*:`]/g, "")
    .trim();
  return PARTS.find(([pattern]) => pattern.test(words))?.[1];
}

const STEP = /^(?:\*\*|__)?Step\s+\d+(?:\.\d+)*[a-z]?\s*(?:[:.)–—-]\s*|(?=\*\*|__)|$)(.*)$/i;

/** The text of `**Step 2: Run it** now`, or undefined if the line is not a step. */
export function readStep(text: string): string | undefined {
  const found = STEP.exec(text.trim());
  return found ? plainLine(found[1] ?? "") : undefined;
}

const DONE_MARK = /\s*(?:[✅☑✔]\ufe0f?|[-–—(]\s*(?:done|complete|completed)\)?)\s*$/iu;

/** A title or step without emphasis, number and completion mark. */
export function readTitle(text: string): { text: string; isDone: boolean } {
  const plain = plainLine(text.replace(/^\s*\[[ xX]\]\s*/, ""));
  const bare = plain.replace(/^[✅☑✔]\ufe0f?\s*/u, "").replace(DONE_MARK, "");
  return { text: bare === "" ? plain : bare, isDone: bare !== plain || /^\s*\[[xX]\]/.test(text) };
}

/** One line without bold. */
export function plainLine(text: string): string {
  return cleanLine(text.replace(/\*\*|__(?=\S)|(?<=\S)__/g, ""));
}

export function withoutNumber(text: string): string {
  return text.replace(/^\(?\d+(?:\.\d+)*[.)]?\s+(?=\S)/, "");
}

export interface DependsOn {
  numbers: string[];
  /** False: it is about something else, such as packages. */
  isAboutTasks: boolean;
}

/** `Task 1, Task 2`, `Tasks 1–3`, `1.1 and 1.2`, `none`. Reads only the first sentence: `Not Task 2` may follow. */
export function readDependsOn(text: string): DependsOn {
  const sentence = plainLine(text)
    .replace(/\([^)]*\)/g, " ")
    .split(/[;]|\.(?=\s|$)/)[0] as string;
  if (/^\s*(?:none|nothing|no\b|n\/a|[-–—]*\s*$)/i.test(sentence)) return { numbers: [], isAboutTasks: true };
  const from = /\b(?:tasks?\b|T(?=\d))/i.exec(sentence);
  const isList = /^[\s\d.,#a-z&–-]*$/.test(sentence) && /^\s*#?\d/.test(sentence);
  if (!from && !isList) return { numbers: [], isAboutTasks: false };
  const numbers: string[] = [];
  const words = sentence.slice(from?.index ?? 0);
  for (const [, start = "", end] of words.matchAll(
    /(\d+(?:\.\d+)*[a-z]?\b)(?:\s*(?:[-–—]|to|through)\s*(?:tasks?\s*)?(\d+)\b)?/gi,
  )) {
    const [low, high] = [Number(start), Number(end ?? start)];
    if (end !== undefined && high > low && high - low < 100) {
      for (let at = low; at <= high; at++) numbers.push(String(at));
    } else numbers.push(start, ...(end === undefined ? [] : [end]));
  }
  return { numbers: [...new Set(numbers)], isAboutTasks: numbers.length > 0 };
}

const DEPENDENCE =
  /(?:^|[.;]\s+)(?:this (?:task )?|it )?(?:depends (?:up)?on|(?:is )?blocked by|requires|waits for|builds on)(?= (?:tasks?\s+#?|T)\d)\s+([^.;]*(?:\.\d[^.;]*)*)/i;

/** "Depends on Task 1." at the start of a sentence. `isWhole`: the line contains nothing else. */
export function readDependence(text: string): { numbers: string[]; isWhole: boolean } | undefined {
  const line = plainLine(text).replace(/^[\s>_*]+|[\s_*]+$/g, "");
  const found = DEPENDENCE.exec(line);
  if (!found) return undefined;
  const { numbers } = readDependsOn(found[1] ?? "");
  const rest = line.slice(0, found.index) + line.slice(found.index + found[0].length);
  return numbers.length > 0 ? { numbers, isWhole: /^[\s.;]*$/.test(rest) } : undefined;
}

const VERB = /^\s*(?:create|modify|test|tests|edit|update|add|new|delete|remove|move|rename|read|extend)\w*\s*:/i;
const EXTENSION =
  /\.(?:[cm]?[jt]sx?|json[5c]?|jsonl|mdx?|py|pyi|rs|go|java|kts?|rb|php|c|cc|cpp|h|hpp|cs|s?css|less|html?|vue|svelte|astro|sql|sh|bash|ya?ml|toml|lock|txt|xml|ini|cfg|conf|env|proto|graphql|swift|dart|exs?|ipynb|csv|svg|png|gradle|lua|zig|tf|prisma|snap)$/i;
const NO_EXTENSION = /^(?:Makefile|Dockerfile|LICENSE|Gemfile|Rakefile|Procfile|\.[a-z]+(?:rc|ignore))$/;

/** The paths in one line under "Files", relative to the project; other words are ignored. Paths outside the project are problems. */
export function readFiles(text: string): { files: string[]; problems: string[] } {
  const hasVerb = VERB.test(plainLine(text));
  const ticked = [...text.matchAll(/`([^`]+)`/g)].map(([, inner = ""]) => inner.trim());
  const bare = plainLine(text)
    .replace(VERB, "")
    .replace(/\([^)]*\)/g, " ");
  const candidates =
    ticked.length > 0
      ? ticked
      : bare.split(/[,\s|]+/).filter((word, index) => isPath(word) || (hasVerb && index === 0));
  const files: string[] = [];
  const problems: string[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const path = withoutLines(candidate);
    // After a verb, the first word is a path in any form.
    const isGiven = hasVerb && index === 0 && /^[^\s(){}<>=;]+$/.test(path);
    if (path === "" || !(isGiven || isPath(path))) continue;
    if (/^(?:\/|~|[A-Za-z]:[\\/])|(?:^|\/)\.\.(?:\/|$)/.test(path))
      problems.push(`${path} is not inside the project: left out`);
    else files.push(withoutPattern(path.replace(/^(?:\.\/)+/, "")));
  }
  return { files: [...new Set(files.filter((path) => path !== ""))], problems };
}

function isPath(word: string): boolean {
  const path = withoutLines(word);
  if (/[\s(){}<>=;"']|::|:\/\//.test(path)) return false;
  if (NO_EXTENSION.test(path) || EXTENSION.test(path)) return true;
  return path.includes("/") && /^[\w.@~[\]*+-]*\/[\w.@/[\]*+-]*$/.test(path) && !/^\d+\/\d+$/.test(path);
}

/** Shortens `a.ts:10-20` and `a.ts#L3` to `a.ts`. */
function withoutLines(path: string): string {
  return path
    .replace(/(?::~?L?\d+(?:\s*[-–,]\s*L?\d+)*)+$/i, "")
    .replace(/#L\d+.*$/i, "")
    .replace(/[,;:]+$/, "");
}

/** Replaces a glob pattern with the folder that contains all its files. */
function withoutPattern(path: string): string {
  const at = path.search(/[*?]/);
  return at < 0 ? path : path.slice(0, path.lastIndexOf("/", at) + 1);
}
