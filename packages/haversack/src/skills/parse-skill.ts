/**
 * Parses a SKILL.md or a single markdown file. Lenient: 4 of 10 real skills break the strict rules, so it reads everything it can and
 * reports the rest; `skill check` lints strictly. Reads no files.
 */
import { createHash } from "node:crypto";
import { cleanLine, cutAt, stripControl } from "../base/clean-text.ts";
import { readFrontmatter } from "../base/frontmatter.ts";
import { isRecord } from "../base/json.ts";
import { cutBody, MAX_BODY_CHARS } from "../base/skill-body.ts";
import { plainKey, readBoolean, readLine, readPhrases, readTexts } from "./rules/rule-values.ts";
import { SEARCHED_BODY_CHARS } from "./skill-text.ts";
import { type Problem, type Report, reporter, type Skill, type SkillSource, type SkillTriggers } from "./types.ts";

export interface SkillPlace {
  /** Absolute path of the file. */
  path: string;
  /** Absolute folder of its resources; absent for a single file. */
  folder?: string;
  source: SkillSource;
  /** The folder's name, or the file's without its extension: the default name of the skill. */
  folderName: string;
  /** The plugin it belongs to; its ID is then `plugin:name`. */
  plugin?: string;
}

export interface ParsedSkill {
  /** Absent if the file is not text. */
  skill?: Skill;
  problems: Problem[];
  /** As written, for the strict lint. */
  frontmatter: Record<string, unknown>;
  /** Lines of the whole file, and of the body alone. */
  lineCount: number;
  bodyLineCount: number;
}

/** Limits on the author's triggers, because a prompt is compared with every one of them. */
const MAX_KEYWORDS = 200;
const MAX_PATTERNS = 50;
/** One bad file must not fill the report. */
const MAX_PROBLEMS = 20;
const MAX_DESCRIPTION_CHARS = 8_192;
const MAX_NAME_CHARS = 128;

export function parseSkill(text: string, place: SkillPlace): ParsedSkill {
  const problems: Problem[] = [];
  const report = reporter(place.path, problems, { most: MAX_PROBLEMS });
  if (isBinary(text)) {
    report.error("skill-binary", "the file is not text: not loaded");
    return { problems, frontmatter: {}, lineCount: 0, bodyLineCount: 0 };
  }
  const { data, body: wholeBody, problems: headerProblems } = readFrontmatter(text);
  for (const { level, code, where, text: message } of headerProblems) report[level](code, message, where);
  const body = cutBody(wholeBody);
  if (wholeBody.length > MAX_BODY_CHARS) {
    const text = `the body has ${wholeBody.length} characters: only the first ${MAX_BODY_CHARS} are used`;
    report.warning("skill-body-cut", text);
  } else if (body.length > SEARCHED_BODY_CHARS) {
    const text = `the body has ${body.length} characters: only the words of the first ${SEARCHED_BODY_CHARS} are searched`;
    report.suggestion("skill-body-long", text);
  }
  const fields = new Map(Object.entries(data).map(([key, value]) => [plainKey(key), value]));
  const metadata = isRecord(fields.get("metadata")) ? (fields.get("metadata") as Record<string, unknown>) : {};
  const extra = new Map(Object.entries(metadata).map(([key, value]) => [plainKey(key), value]));
  const either = (key: string): unknown => fields.get(key) ?? extra.get(key);

  const name = readName(fields.get("name"), place, report);
  const description = readDescription(fields.get("description"), body, report);
  const whenToUse = readLine(fields.get("whentouse"));
  const shortDescription = readLine(either("shortdescription"));
  const domain = readLine(either("domain"));
  const license = readLine(fields.get("license"));
  const allowedTools = readTools(fields.get("allowedtools"));
  const triggers = readTriggers(either("triggers"), report);
  const skill: Skill = {
    id: place.plugin ? `${place.plugin}:${name}` : name,
    name,
    description,
    ...(whenToUse === undefined ? {} : { whenToUse }),
    ...(shortDescription === undefined ? {} : { shortDescription }),
    body,
    hash: createHash("sha256").update(text).digest("hex"),
    path: place.path,
    ...(place.folder === undefined ? {} : { folder: place.folder }),
    source: place.source,
    modelInvocable: readBoolean(fields.get("disablemodelinvocation")) !== true,
    ...(triggers === undefined ? {} : { triggers }),
    tags: readNames(either("tags"), "tags", report),
    requires: readNames(either("requires"), "metadata.requires", report),
    ...(domain === undefined ? {} : { domain }),
    ...(license === undefined ? {} : { license }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
    metadata: flatMetadata(metadata),
  };
  return { skill, problems, frontmatter: data, lineCount: lines(text), bodyLineCount: lines(wholeBody.trim()) };
}

/** Has a NUL byte, or too much invalid UTF-8 to be text. */
function isBinary(text: string): boolean {
  const start = text.slice(0, 8_192);
  if (start.includes("\u0000")) return true;
  const broken = start.length - start.replaceAll("\ufffd", "").length;
  return broken > 20 && broken > start.length / 10;
}

/** A name is at most one path segment, so it cannot point elsewhere or imitate another plugin's skill. */
function readName(value: unknown, { folderName }: SkillPlace, report: Report): string {
  const written = readLine(value);
  if (value !== undefined && value !== null && written === undefined)
    report.warning("skill-name", "the name is not text: the folder's name is used", "name");
  const fallback = cleanName(folderName) || "unnamed";
  if (written === undefined) return fallback;
  const name = cleanName(written);
  if (name === "") {
    report.warning("skill-name", `“${written}” is not a valid name: the folder's name is used`, "name");
    return fallback;
  }
  if (name !== written) {
    const text = `the name is read as “${name}”: path parts, colons and more than ${MAX_NAME_CHARS} characters are not allowed`;
    report.warning("skill-name", text, "name");
  }
  return name;
}

function cleanName(text: string): string {
  const last =
    cleanLine(text)
      .split(/[/\\]/)
      .filter((part) => !/^\.*$/.test(part))
      .at(-1) ?? "";
  return cutAt(last.replace(/^\.+/, "").replaceAll(":", "-").trim(), MAX_NAME_CHARS);
}

function readDescription(value: unknown, body: string, report: Report): string {
  const lines = Array.isArray(value) ? value.filter((part) => typeof part === "string").join(" ") : value;
  const written = typeof lines === "string" ? cleanLine(lines) : readLine(lines);
  if (written !== undefined && written !== "") {
    if (written.length > MAX_DESCRIPTION_CHARS) {
      const text = `the description has ${written.length} characters: cut to ${MAX_DESCRIPTION_CHARS}`;
      report.warning("skill-description", text, "description");
    }
    return cutAt(written, MAX_DESCRIPTION_CHARS);
  }
  const first = firstParagraph(body);
  report.warning(
    "skill-description",
    first === ""
      ? "there is no description, so the skill can hardly be found"
      : "there is no description: the first paragraph is used",
    "description",
  );
  return first;
}

/** The first lines of prose: no heading, code, comment, table, rule or image. */
function firstParagraph(body: string): string {
  const text = body
    .slice(0, 8_000)
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/^(```|~~~)[\s\S]*?^\1.*$/gm, "");
  for (const paragraph of text.split(/\n\s*\n/)) {
    const lines = paragraph.split("\n").filter((line) => !/^\s*(?:#|\||!\[|<|=+$|-{3,}$|\*{3,}$|```|~~~)/.test(line));
    const prose = cleanLine(lines.join(" ").replace(/^\s*[>*-]\s+/, ""), { maxChars: 1_024 });
    if (/\p{L}/u.test(prose)) return prose;
  }
  return "";
}

/** A list, or comma-separated names. */
function readNames(value: unknown, key: string, report: Report): string[] {
  if (value === undefined || value === null || value === "") return [];
  const reading = isRecord(value) ? undefined : readPhrases(value);
  if (!reading || reading.bad > 0) report.warning("skill-field", "expected names, as a list or between commas", key);
  const names = (reading?.items ?? []).map(({ text }) => cleanLine(text, { maxChars: MAX_NAME_CHARS }));
  const found = [...new Set(names)].filter((name) => name !== "");
  return firstOf(found, { most: MAX_KEYWORDS, unread: reading?.cut ?? 0, key, report });
}

function firstOf(
  items: readonly string[],
  { most, unread, key, report }: { most: number; unread: number; key: string; report: Report },
): string[] {
  const total = items.length + unread;
  if (total > most) report.warning("skill-field-cut", `${total} entries: only the first ${most} are used`, key);
  return items.slice(0, most);
}

/** Separated by commas or spaces, but not inside `Bash(git add:*)`. */
function readTools(value: unknown): string[] | undefined {
  if (typeof value !== "string") {
    const tools = readTexts(value)?.items.map((tool) => cleanLine(tool));
    return tools && tools.length > 0 ? tools : undefined;
  }
  const written = value.slice(0, 4_000);
  const separator = /,(?![^()]*\))/.test(written) ? /,(?![^()]*\))/ : /\s+(?![^()]*\))/;
  const tools = written
    .split(separator)
    .map((tool) => cleanLine(tool))
    .filter((tool) => tool !== "");
  return tools.length > 0 ? tools : undefined;
}

function readTriggers(value: unknown, report: Report): SkillTriggers | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) {
    const keywords = readNames(value, "triggers", report);
    return keywords.length > 0 ? { keywords, patterns: [] } : undefined;
  }
  const triggers: SkillTriggers = { keywords: [], patterns: [] };
  for (const [key, inner] of Object.entries(value)) {
    switch (plainKey(key)) {
      case "keywords":
        triggers.keywords = readNames(inner, "triggers.keywords", report);
        break;
      case "patterns": {
        const patterns = readTexts(inner);
        if (!patterns || patterns.bad > 0)
          report.warning("skill-field", "expected a list of regular expressions", "triggers.patterns");
        triggers.patterns = firstOf(patterns?.items ?? [], {
          most: MAX_PATTERNS,
          unread: patterns?.cut ?? 0,
          key: "triggers.patterns",
          report,
        });
        break;
      }
      case "confidence":
        if (typeof inner === "number" && inner >= 0 && inner <= 1) triggers.confidence = inner;
        else report.warning("skill-field", "expected a number from 0 to 1", "triggers.confidence");
        break;
      default: {
        const text = "unknown key: expected keywords, patterns, confidence";
        report.warning("skill-field", text, `triggers.${cleanLine(key, { maxChars: 60 })}`);
      }
    }
  }
  return triggers;
}

/** One level of texts, as the specification allows. Deeper values are kept as JSON, so nothing is lost. */
function flatMetadata(metadata: Record<string, unknown>): Record<string, string> {
  const flat: [string, string][] = [];
  for (const [key, value] of Object.entries(metadata).slice(0, 100)) {
    if (value === null || value === undefined) continue;
    const simple = Array.isArray(value) && value.every((part) => typeof part !== "object") ? value.join(", ") : value;
    const text = typeof simple === "object" ? JSON.stringify(simple) : String(simple);
    flat.push([cleanLine(key, { maxChars: 100 }), cutAt(stripControl(text), 1_000)]);
  }
  return Object.fromEntries(flat);
}

function lines(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}
