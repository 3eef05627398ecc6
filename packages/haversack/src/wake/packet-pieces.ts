/** Everything a packet could say, as ranked pieces, plus counts of what is too much to list. */

import { headingLevel } from "../base/clean-text.ts";
import { BY_MESSAGE, FROM } from "../skills/showing/activation.ts";
import { bestSections, coreSection, rankSections } from "../skills/showing/skill-sections.ts";
import type { EndedAs } from "../work/task.ts";
import { type Beyond, ownTexts, type Piece, type PieceOptions, Pieces, SOURCE } from "./packet.ts";
import { planRest } from "./plan-rest.ts";
import type { WakeActivity, WakeMessage, WakeSkill, WakeState } from "./state.ts";
import { handoffPieces, MOST_DECISIONS, MOST_HANDOFFS, positionOf, taskPieces, wipPieces } from "./task-pieces.ts";
import type { Template } from "./templates.ts";
import { cutLine, cutText, deepen, listOf, objectOf, Said, speakerOf, stemsOf, textOf } from "./text.ts";
import { nextAction } from "./workflow.ts";

export interface PacketPieces {
  pieces: Piece[];
  /** The skills' texts, made once the available room is known. */
  bodies: (room: Omit<BodyOptions, "query">) => Piece[];
  beyond: Beyond[];
}

export interface GatherOptions {
  template: Template;
  budgetChars: number;
  how?: Partial<PieceOptions["how"]> | undefined;
}

export function gatherPieces(state: WakeState, { template, budgetChars, how: given }: GatherOptions): PacketPieces {
  const { task, agent, skills, handoffs, wip } = state;
  const sentences = template.placeholders.has("next_action") ? nextAction(state) : [];
  const said = new Said();
  said.add(...sentences);
  // For a task without a tree, the position says everything.
  const hasTree = template.placeholders.has("tasks") && state.tree.length > 1;
  const step = task?.steps.find(({ done }) => !done)?.text;
  const isLeftSaid = state.leftBy !== undefined && sentences.length > 0;
  const isStepSaid = step !== undefined && said.has(cutLine(step, 200));
  const position = positionOf(state, { hasTree, isStepSaid, isLeftSaid });
  said.add(position, state.newMessage?.text.slice(0, 1_000));
  const query = [
    ...sentences,
    position,
    ...redTexts(state),
    task?.title,
    task?.description?.slice(0, 2_000),
    task?.acceptanceCriteria?.slice(0, 2_000),
  ].join("\n");
  const how: PieceOptions["how"] = {
    task: task ? `haversack task show ${task.id} --fields full` : "haversack task list",
    wip: task ? `haversack wip ${task.id}` : `haversack wip${agent.sessionId ? ` --session ${agent.sessionId}` : ""}`,
    handoffs: task ? `haversack handoff show ${task.id}` : "haversack handoff list",
    tree: "haversack task list --tree",
    messages: `haversack agent inbox ${cutLine(agent.name, 60)}`,
    activity: "haversack task log",
    ...given,
  };
  const options: PieceOptions = {
    budgetChars,
    said,
    position,
    about: stemsOf(query),
    hasTree,
    hasTask: template.placeholders.has("task"),
    isLeftSaid,
    how,
  };
  const gone = skills.filter(({ body, isCarried }) => body === undefined && !isCarried);
  const missing = [
    ...gone.map(({ id, because }) => `skill ${id} (${because}) is not installed`),
    ...state.missing.filter((line) => !gone.some(({ id }) => line.includes(id))),
    // The list of known placeholders helps the template's author, not the agent.
    ...template.problems.map((problem) => problem.replace(/; known are .*/, "")),
  ];
  const head = new Pieces([]);
  head.add(0.5, SOURCE, `${FROM}${REASONS[state.reason] ?? "as asked"}; times are UTC.`, {
    name: "From Haversack.",
  });
  const next = new Pieces(["next_action"], {
    what: "next action",
    label: YIELDS.has(state.reason) ? YIELD : undefined,
  });
  for (const [index, sentence] of sentences.entries()) {
    const number = sentences.length > 1 ? `${index + 1}. ` : "";
    next.add(2 + index / 10, `next ${index}`, number + sentence, { short: number + cutLine(sentence, 140) });
  }
  const messages = messagePieces(state, options);
  const shown = messages.filter(({ what }) => what === UNREAD).length;
  const beyond: Beyond[] = [
    { what: UNREAD, count: (state.unreadCount ?? unreadOf(state).length) - shown, how: how.messages },
    { what: "handoff", count: handoffs.length - MOST_HANDOFFS, how: how.handoffs },
    { what: "decision", count: listOf(wip?.decisions).length - MOST_DECISIONS, how: how.wip },
  ];
  return {
    pieces: eachOnce([
      ...head.list,
      ...identityPieces(state),
      ...next.list,
      ...missingPieces(missing),
      ...skillLines(skills),
      ...taskPieces(state, options),
      ...wipPieces(state, options),
      ...handoffPieces(state, options),
      ...messages,
      ...planPieces(state, options),
      ...ownTexts(template, budgetChars),
    ]),
    bodies: (room) => skillBodies(skills, { query, ...room }),
    beyond: beyond.filter(({ count }) => count > 0),
  };
}

/** A failing test or error is what the agent works on, even without an order. Skill sections with these words rank higher. */
function redTexts({ wip }: WakeState): string[] {
  const failing = textOf(objectOf(wip?.test_results)["failing_test"]);
  const error = textOf(objectOf(listOf(wip?.errors).at(-1))["message"]);
  return [
    ...(failing ? [`Fix the failing test first: ${failing.slice(0, 300)}`] : []),
    ...(error ? [`Newest error: ${error.slice(0, 300)}`] : []),
  ];
}

/** Keeps only the most important of pieces that say the same, because it is left out last. */
function eachOnce(pieces: readonly Piece[]): Piece[] {
  const said = new Said();
  const doubles = new Set<Piece>();
  for (const piece of pieces.filter(({ says }) => says).sort((a, b) => a.rank - b.rank)) {
    const words = cutLine(piece.says ?? "", 300);
    // Keep every message: it counts as read only if it was shown.
    if (!piece.message && said.has(words)) doubles.add(piece);
    else said.add(piece.says);
  }
  return pieces.filter((piece) => !doubles.has(piece));
}

/** If no prompt asked for the packet, it must not compete with the next prompt. */
const YIELDS: ReadonlySet<WakeState["reason"]> = new Set(["startup", "resume", "clear", "compact", "asked"]);
const YIELD = "Unless you are asked for something else:";

const REASONS: Readonly<Record<WakeState["reason"], string>> = {
  startup: "at the start of this session",
  resume: "as this session resumes",
  clear: "after the window was cleared",
  compact: "after a compaction",
  "agent-start": "for a sub-agent",
  message: BY_MESSAGE,
  asked: "as asked",
};

// The skills in use: one line for each, then as much of their text as fits, sections about the task first.

/** The line costs little and says what the agent must know. */
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
  /** What the agent is doing; sections are ranked by it. */
  query: string;
  /** Room for all skills together if not everything fits. */
  roomChars: number;
  /** A longer text cannot fit whole. */
  wholeChars: number;
}

/** A core is about half a page. A core section marked by the author may be longer, and is cut at its end. */
const CORE_CHARS = 900;
const MOST_CORE_CHARS = 1_500;
/** The rest of a longer body is not read. Ranking 200,000 characters takes 2 to 3 ms in 50 sections, 10 ms in 2,000 sections. */
const MOST_BODY_CHARS = 256_000;
/** With less room than this, a cut text is half a sentence, and the brief says more. */
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
    // Two sizes, because the larger one can exceed its room by a few characters, and then only the brief would be left. A piece has
    // three forms in all, so next to the whole text there is only one of them.
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

// Who the agent is, the plan it follows, the messages to it and what happened.

export function identityPieces({ agent: { name, role, branch, worktree }, task, elsewhere }: WakeState): Piece[] {
  // A session with neither has no role to play.
  if (!name && !role) return [];
  const what = `the ${cutLine(role, 60)}`;
  // A sub-agent that is about to start has no name yet.
  const you = `You are ${name ? at(name) : what}`;
  const as = !name
    ? `${you}${task ? ` for ${task.id}` : ""}`
    : role
      ? `${you}, ${what}${role === "orchestrator" ? " for this project" : ""}`
      : you;
  const on = branch ? `${as}, on branch ${cutLine(branch, 120)}` : as;
  const pieces = new Pieces(["identity"]);
  const full = worktree ? `${on}, in worktree ${cutLine(worktree, 200)}.` : `${on}.`;
  pieces.add(1, "identity", full, { short: `${on}.`, name: `${you}.` });
  const two = new Pieces(["identity", "missing", "next_action"], { what: "other session" });
  if (elsewhere) two.add(1.5, "elsewhere", `${at(name)} ${otherSessionsLine(elsewhere)}`);
  return [...pieces.list, ...two.list];
}

/** Two sessions on one task would overwrite each other's work. */
function otherSessionsLine({ sessions, taskIds }: NonNullable<WakeState["elsewhere"]>): string {
  const isOne = sessions.length === 1;
  const ids = sessions.slice(0, 3).map((id) => cutLine(id, 60));
  const where = `is also at work in ${isOne ? "session" : "sessions"} ${ids.join(", ")}`;
  if (taskIds.length === 0) return `${where}.`;
  const tasks = taskIds.slice(0, 5).join(", ");
  return `${where}, which ${isOne ? "holds" : "hold"} ${tasks}: leave ${taskIds.length === 1 ? "that" : "those"} to it, unless it has stopped.`;
}

export function missingPieces(lines: readonly string[]): Piece[] {
  // Shown whatever the template: without this line nobody would notice that something is missing.
  const pieces = new Pieces(["missing", "identity", "next_action", "task"], { what: "missing thing" });
  for (const [index, line] of lines.slice(0, 5).entries()) {
    pieces.add(7, `missing ${index}`, `Missing: ${cutLine(line, 250)}`, { short: `Missing: ${cutLine(line, 100)}` });
  }
  return pieces.list;
}

export function planPieces({ plan, task, whole }: WakeState, { budgetChars, hasTask }: PieceOptions): Piece[] {
  if (!plan) return [];
  const { file, section, text = "", lineCount } = plan;
  const name = cutLine(file, 300);
  const pieces = new Pieces(["plan"], { group: "plan", how: `Read ${name}` });
  const lines = lineCount ? ` (${lineCount} lines)` : "";
  const part = section ? `, section "${cutLine(section, 150)}"` : "";
  pieces.add(31, "plan file", `**File:** ${name}${lines}${part}`, { what: "plan", short: `**File:** ${name}` });
  // Tasks are made from plans. What the task already has is shown there, so leave it out here.
  const told = hasTask ? [task, whole] : [];
  const steps = hasTask ? (task?.steps ?? []) : [];
  const body = planRest(withoutHeading(text, section), {
    texts: [
      ...told.flatMap((each) => [each?.description, each?.acceptanceCriteria]),
      ...steps.map((step) => step.text),
    ],
    files: told.flatMap((each) => each?.files ?? []),
  });
  const cut = (maxChars: number): string => deepen(cutText(body, Math.floor(maxChars)));
  // The long form is about the plan's share of the budget. The short one is for a packet whose head takes half of it.
  pieces.add(32, "plan text", cut(Math.max(8_000, budgetChars / 3)), {
    short: cut(Math.max(300, budgetChars * 0.085)),
    name: cut(Math.max(120, budgetChars * 0.04)),
    what: "the plan's section",
    rest: "rest of the plan's section",
  });
  return pieces.list;
}

/** The line above already names the section. */
function withoutHeading(text: string, section: string | undefined): string {
  const clean = text.trimStart();
  const [first = ""] = clean.split("\n", 1);
  return section && headingLevel(first) > 0 && first.includes(section) ? clean.slice(first.length).trim() : clean;
}

const MOST_MESSAGES = 15;
/** How many mentions come before the shares are applied, because someone waits for an answer. */
const FIRST_MENTIONS = 3;

/** The name used when it is left out. */
export const UNREAD = "unread message";

/** Excludes the message that wakes the agent, which has its own place. */
export function unreadOf({ messages, newMessage }: Pick<WakeState, "messages" | "newMessage">): WakeMessage[] {
  return messages.filter(({ id }) => id !== newMessage?.id);
}

export function messagePieces(state: WakeState, { budgetChars, isLeftSaid, how }: PieceOptions): Piece[] {
  const { heard = [], newMessage, activity, handoffs, task, now } = state;
  const said = new Pieces(["new_message"], { how: how.messages });
  if (newMessage) {
    const quote = (maxChars: number): string =>
      `${speaker(newMessage)}: ${quoted(newMessage.text, Math.floor(maxChars))}`;
    const most = Math.min(1_500, budgetChars / 4);
    said.add(5, "new message", quote(most), {
      message: { id: newMessage.id, ...(newMessage.text.length <= most && { whole: "full" }) },
      short: quote(Math.min(400, budgetChars / 8)),
      name: quote(80),
      rest: "rest of the new message",
    });
  }
  const unread = unreadOf(state);
  const newest = unread.at(-1);
  const box = new Pieces(["messages", "new_message"], { how: how.messages, label: "Unread:" });
  // Newest first, because a later message may revoke an earlier one.
  for (const isCall of [true, false]) {
    const alike = unread.filter(({ isMention }) => isMention === isCall);
    for (const [age, message] of alike.slice(-MOST_MESSAGES).reverse().entries()) {
      const isFirst = message === newest || (isCall && age < FIRST_MENTIONS);
      const most = isFirst ? 240 : isCall ? 400 : 200;
      const who = `- ${clock(message.at, now)} ${speaker(message)}${message.taskId ? ` on ${cutLine(message.taskId, 64)}` : ""}`;
      const rank = (isFirst ? 9 : isCall ? 10 : 60) + age / 100;
      box.add(rank, `message ${cutLine(message.id, 60)}`, `${who}: ${quoted(message.text, most)}`, {
        short: `${who}: ${quoted(message.text, 120)}`,
        says: message.text,
        message: { id: message.id, ...(message.text.length <= most && { whole: "full" }) },
        what: UNREAD,
        order: 80 + unread.indexOf(message),
        group: isFirst ? undefined : isCall ? "messages" : "talk",
      });
    }
  }
  // Read before, but lost with the old window. The requests in them still hold.
  const before = new Pieces(["messages", "new_message"], { how: how.messages, label: "Told before:", group: "talk" });
  for (const [index, message] of heard.entries()) {
    const who = `- ${clock(message.at, now)} ${speaker(message)}`;
    const rank = 61 + (heard.length - index) / 100;
    before.add(rank, `heard ${cutLine(message.id, 60)}`, `${who}: ${quoted(message.text, 300)}`, {
      short: `${who}: ${quoted(message.text, 120)}`,
      says: message.text,
      what: "message told before",
      how: `${how.messages} --all`,
      order: 70 + index,
    });
  }
  const events = new Pieces(["activity"], { group: "talk", how: how.activity, what: "event" });
  // Skip events shown elsewhere: handoffs with their text, an expired claim with its task.
  const isTold = ({ kind, subject, text }: WakeActivity): boolean =>
    kind === "claim-expired"
      ? subject === task?.id && (isLeftSaid || text === task?.note)
      : kind === "handoff-stored" && handoffs.some(({ taskId }) => taskId === subject);
  const rest = activity.filter((event) => !isTold(event));
  for (const [age, event] of rest.slice(0, 10).entries()) {
    events.add(70 + age / 100, `event ${age}`, formatEvent(event, now), { order: -age });
  }
  return [...said.list, ...before.list, ...box.list, ...events.list];
}

export function formatEvent(event: WakeActivity, now: Date): string {
  const what = [event.subject, happened(event)].flatMap((part) => cutLine(part ?? "", 120) || []).join(": ");
  return `- ${clock(event.at, now)} ${at(event.actor)} ${what}`;
}

/** Says what was done: for some kinds the event's text is only a list of fields or a role. */
function happened({ kind, text, actor }: WakeActivity): string {
  if (kind === "task-claimed") return text === `claimed by ${actor}` ? "claimed" : text || "claimed";
  const verb = Object.hasOwn(VERBS, kind) ? VERBS[kind] : undefined;
  if (!text) return verb ?? kind;
  return verb ? `${verb} ${text}` : text;
}

/** Kinds whose text does not say what was done. */
const VERBS: Readonly<Record<string, string>> = {
  "task-updated": "changed",
  "dependency-added": "now waits:",
  "dependency-removed": "no longer waits:",
  "handoff-stored": "handed off as",
};

/** The time if it is today, else with the day. In UTC, as the packet says. */
export function clock(time: Date, now: Date): string {
  if (Number.isNaN(time.getTime())) return "--:--";
  const hour = `${padded(time.getUTCHours())}:${padded(time.getUTCMinutes())}`;
  const isToday = Math.floor(time.getTime() / DAY_MS) === Math.floor(now.getTime() / DAY_MS);
  // Formatted by hand: Date's own formatting loads the machine's time zone first, which costs a hook a sixth of a millisecond.
  return isToday ? hour : `${padded(time.getUTCMonth() + 1)}-${padded(time.getUTCDate())} ${hour}`;
}

const DAY_MS = 86_400_000;

function padded(part: number): string {
  return part < 10 ? `0${part}` : `${part}`;
}

/** Starts a line that we write, so no agent's text can imitate the person there. */
function speaker({ from, isPerson }: WakeMessage): string {
  return speakerOf({ from: cutLine(from, 60), isPerson: isPerson === true });
}

/** On one line. Quotes are escaped, so a text cannot fake its own end and the start of another message. */
function quoted(text: string, maxChars: number): string {
  return `"${cutLine(text, maxChars).replaceAll('"', '\\"')}"`;
}

function at(agent: string): string {
  return `@${cutLine(agent, 60)}`;
}

// Tasks that were started and left unfinished, one line each: below the packet of one of them, or alone.

export interface LeftWork {
  taskId: string;
  title: string;
  agent: string;
  /** expired: no sign of life. ended: the client reported the end. gone: its process no longer runs. */
  because: EndedAs;
  /** The client still runs but was quiet for longer than its lease: it may continue at any time. */
  isOpen: boolean;
  /** Where that session worked. Absent: unknown. */
  worktree?: string;
  branch?: string;
  /** The task was left in the caller's work tree. */
  isHere: boolean;
  lastSeenAt: Date;
}

/** For longer lists there is a command. */
const MOST_HERE = 5;
const MOST_ELSEWHERE = 3;

/** Those of this work tree first. `hasPacket`: the text follows a packet. "" if there are none. */
export function leftLines(left: readonly LeftWork[], { at, hasPacket }: { at: Date; hasPacket: boolean }): string {
  if (left.length === 0) return "";
  const here = left.filter(({ isHere }) => isHere);
  const elsewhere = left.filter(({ isHere }) => !isHere);
  const shown = [...here.slice(0, MOST_HERE), ...elsewhere.slice(0, MOST_ELSEWHERE)];
  const more = left.length - shown.length;
  return [
    hasPacket ? "Also left unfinished:" : "From Haversack: tasks that earlier sessions left unfinished; times are UTC.",
    ...shown.map((task) => `- ${leftLine(task, at)}`),
    ...(more > 0 ? [`- ${more} more: \`haversack status\``] : []),
  ].join("\n");
}

function leftLine({ taskId, title, agent, isHere, worktree, branch, ...end }: LeftWork, now: Date): string {
  const folder = worktree === undefined ? "elsewhere" : `in ${cutLine(worktree, 200)}`;
  const where = isHere ? "in this worktree" : `${folder}${branch ? `, branch ${cutLine(branch, 100)}` : ""}`;
  const time = clock(end.lastSeenAt, now);
  const ended = `last seen ${time}; ${LEFT_BECAUSE[end.because]}`;
  const how = end.isOpen ? `quiet since ${time}; its session may still be open` : ended;
  return `${taskId} "${cutLine(title, 100)}" (${where}; @${cutLine(agent, 60)}, ${how})`;
}

const LEFT_BECAUSE: Readonly<Record<LeftWork["because"], string>> = {
  ended: "its session has ended",
  gone: "its client is gone",
  expired: "its claim has expired",
};
