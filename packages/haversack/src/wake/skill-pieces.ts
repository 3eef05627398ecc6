/** The skills in use: a line that names each, and of their text what fits, the sections about the task first. Loaded by the hook. */
import { bestSections, coreSection, rankSections } from "../skills/skill-sections.ts";
import { cutLine, cutText, deepen } from "./cut-text.ts";
import { type Piece, Pieces } from "./piece.ts";
import type { WakeSkill } from "./state.ts";

/** The line costs little and says what must be known. */
export function skillLines(skills: readonly WakeSkill[]): Piece[] {
  const pieces = new Pieces(["skill"]);
  for (const [index, { id, because, as, body, hasChanged, isCarried }] of skills.entries()) {
    if (body === undefined && !isCarried) continue;
    const use = `${as === "main" ? "You are using" : "Also in force:"} \`${cutLine(id, 100)}\``;
    const changed = hasChanged ? " This is the version you began with; its file has changed since." : "";
    const carried = isCarried ? " Its text is in your window." : "";
    pieces.add(6 + index / 100, `skill line ${id}`, `${use} (${cutLine(because, 120)}).${changed}${carried}`, {
      what: `skill ${cutLine(id, 100)}`,
      short: `${use}.`,
      order: index * 2,
    });
  }
  return pieces.list;
}

export interface BodyOptions {
  /** What is being done: sections are ranked by it. */
  query: string;
  /** What there is for all of them when not everything fits. */
  roomChars: number;
  /** A text that is longer cannot fit whole. */
  wholeChars: number;
}

/** A core is what half a page holds. One that its author marked may be longer, and is cut at its end. */
const CORE_CHARS = 900;
const MOST_CORE_CHARS = 1_500;
/** Of longer ones the rest is not read. 200,000 characters in 50 sections are ranked in 2 to 3 ms, in 2,000 sections in 10. */
const MOST_BODY_CHARS = 256_000;
/** Less room than this gives half a sentence: then the brief says more. */
const LEAST_CHARS = 300;

export function skillBodies(skills: readonly WakeSkill[], { query, roomChars, wholeChars }: BodyOptions): Piece[] {
  const pieces = new Pieces(["skill"], { group: "skill" });
  const weightOf = ({ as }: WakeSkill): number => (as === "main" ? 4 : 1);
  const shown = skills.filter(({ body, isCarried }) => body?.trim() && !isCarried);
  const weights = shown.reduce((sum, skill) => sum + weightOf(skill), 0);
  for (const skill of shown) {
    const { id, as, brief, activation } = skill;
    const body = skill.body?.trim() ?? "";
    const load = cutLine(activation, 300);
    const isMain = as === "main";
    const room = (roomChars * weightOf(skill)) / weights - load.length - 40;
    const inShort = brief ? `In short: ${cutLine(brief, 200)} All of it: ${load}` : "";
    const beginning = cutText(body, MOST_BODY_CHARS);
    const core = isMain ? undefined : coreSection(beginning);
    const maxChars = Math.floor(isMain ? room : Math.min(room, core ? MOST_CORE_CHARS : CORE_CHARS));
    const isWhole = body.length <= (isMain ? wholeChars : CORE_CHARS);
    let ranked: ReturnType<typeof rankSections> | undefined;
    // Two sizes: the first can miss its room by a few characters, and the brief alone would be a pity. There are three forms in
    // all: beside the whole text there is one.
    const [large, small] = [0.96, 0.6].map((share) => {
      const isNeeded = !isWhole || (share > 0.9 && body.length > maxChars * share);
      if (!isNeeded || maxChars * share < LEAST_CHARS) return "";
      if (core) return `\nIts core (all of it: ${load}):\n\n${deepen(cutText(core, Math.floor(maxChars * share)))}\n`;
      ranked ??= rankSections(beginning, query);
      const text = bestSections(ranked, beginning, Math.floor(maxChars * share));
      return `\nIts most relevant parts (all of it: ${load}):\n\n${deepen(text)}\n`;
    });
    const forms = [isWhole && `\n${deepen(beginning)}\n`, large, small, inShort].filter((form): form is string =>
      Boolean(form),
    );
    const index = skills.indexOf(skill);
    pieces.add((isMain ? 30 : 37) + index / 100, `skill:${id}`, forms[0] ?? "", {
      short: forms[1],
      name: forms[2],
      what: `skill ${cutLine(id, 100)}`,
      skill: isWhole ? { id, whole: "full" } : { id },
      order: index * 2 + 1,
      how: load,
    });
  }
  return pieces.list;
}
