/** Who the agent is, the plan it follows, what is said to it and what happened. */
import { headingLevel } from "../base/clean-text.ts";
import { speakerOf } from "./message.ts";
import { type Piece, type PieceOptions, Pieces } from "./piece.ts";
import { planRest } from "./plan-rest.ts";
import type { WakeActivity, WakeMessage, WakeState } from "./state.ts";
import { cutLine, cutText, deepen } from "./text.ts";

export function identityPieces({ agent: { name, role, branch, worktree }, task, elsewhere }: WakeState): Piece[] {
  // A session that has neither was given no part to play.
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

/** Two sessions on one task would write over each other. */
function otherSessionsLine({ sessions, taskIds }: NonNullable<WakeState["elsewhere"]>): string {
  const isOne = sessions.length === 1;
  const ids = sessions.slice(0, 3).map((id) => cutLine(id, 60));
  const where = `is also at work in ${isOne ? "session" : "sessions"} ${ids.join(", ")}`;
  if (taskIds.length === 0) return `${where}.`;
  const tasks = taskIds.slice(0, 5).join(", ");
  return `${where}, which ${isOne ? "holds" : "hold"} ${tasks}: leave ${taskIds.length === 1 ? "that" : "those"} to it, unless it has stopped.`;
}

export function missingPieces(lines: readonly string[]): Piece[] {
  // Whatever the template: nobody looks for what nobody said is missing.
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
  // Tasks are made from plans: what the task itself has is told there.
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
  // What the share comes to, beside a small head and beside one that takes half of the budget.
  pieces.add(32, "plan text", cut(Math.max(8_000, budgetChars / 3)), {
    short: cut(Math.max(300, budgetChars * 0.085)),
    name: cut(Math.max(120, budgetChars * 0.04)),
    what: "the plan's section",
    rest: "rest of the plan's section",
  });
  return pieces.list;
}

/** The line above names the section. */
function withoutHeading(text: string, section: string | undefined): string {
  const clean = text.trimStart();
  const [first = ""] = clean.split("\n", 1);
  return section && headingLevel(first) > 0 && first.includes(section) ? clean.slice(first.length).trim() : clean;
}

const MOST_MESSAGES = 15;
/** So many are told before shares are counted: others wait for an answer. */
const FIRST_MENTIONS = 3;

/** What it is called when it is left out. */
export const UNREAD = "unread message";

/** The message that wakes the agent has a place of its own. */
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
  // The newest first: what was said last may take back what was said before.
  for (const isCall of [true, false]) {
    const alike = unread.filter(({ isMention }) => isMention === isCall);
    for (const [age, message] of alike.slice(-MOST_MESSAGES).reverse().entries()) {
      const isFirst = message === newest || (isCall && age < FIRST_MENTIONS);
      const most = isFirst ? 240 : isCall ? 400 : 200;
      const who = `- ${clock(message.at, now)} ${speaker(message)}${message.taskId ? ` on ${cutLine(message.taskId, 64)}` : ""}`;
      box.add(
        (isFirst ? 9 : isCall ? 10 : 60) + age / 100,
        `message ${cutLine(message.id, 60)}`,
        `${who}: ${quoted(message.text, most)}`,
        {
          short: `${who}: ${quoted(message.text, 120)}`,
          says: message.text,
          message: { id: message.id, ...(message.text.length <= most && { whole: "full" }) },
          what: UNREAD,
          order: 80 + unread.indexOf(message),
          group: isFirst ? undefined : isCall ? "messages" : "talk",
        },
      );
    }
  }
  // Read, and forgotten with the window: what was asked for still holds.
  const before = new Pieces(["messages", "new_message"], { how: how.messages, label: "Told before:", group: "talk" });
  for (const [index, message] of heard.entries()) {
    const who = `- ${clock(message.at, now)} ${speaker(message)}`;
    before.add(
      61 + (heard.length - index) / 100,
      `heard ${cutLine(message.id, 60)}`,
      `${who}: ${quoted(message.text, 300)}`,
      {
        short: `${who}: ${quoted(message.text, 120)}`,
        says: message.text,
        what: "message told before",
        how: `${how.messages} --all`,
        order: 70 + index,
      },
    );
  }
  const events = new Pieces(["activity"], { group: "talk", how: how.activity, what: "event" });
  // Handoffs are told with what they say, and a claim that has expired with its task.
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

/** What was done, not only to what: the text of some kinds is a list of fields or a role. */
function happened({ kind, text, actor }: WakeActivity): string {
  if (kind === "task-claimed") return text === `claimed by ${actor}` ? "claimed" : text || "claimed";
  const verb = Object.hasOwn(VERBS, kind) ? VERBS[kind] : undefined;
  if (!text) return verb ?? kind;
  return verb ? `${verb} ${text}` : text;
}

/** Kinds whose text does not say it. */
const VERBS: Readonly<Record<string, string>> = {
  "task-updated": "changed",
  "dependency-added": "now waits:",
  "dependency-removed": "no longer waits:",
  "handoff-stored": "handed off as",
};

/** Today's time, else with its day. UTC: the packet says so. */
export function clock(time: Date, now: Date): string {
  if (Number.isNaN(time.getTime())) return "--:--";
  const hour = `${padded(time.getUTCHours())}:${padded(time.getUTCMinutes())}`;
  const isToday = Math.floor(time.getTime() / DAY_MS) === Math.floor(now.getTime() / DAY_MS);
  // By hand: a Date that writes itself opens the machine's time zone first, a sixth of a millisecond of a hook.
  return isToday ? hour : `${padded(time.getUTCMonth() + 1)}-${padded(time.getUTCDate())} ${hour}`;
}

const DAY_MS = 86_400_000;

function padded(part: number): string {
  return part < 10 ? `0${part}` : `${part}`;
}

/** At the start of a line, which is ours: no text of an agent can put the person's mark there. */
function speaker({ from, isPerson }: WakeMessage): string {
  return speakerOf({ from: cutLine(from, 60), isPerson: isPerson === true });
}

/** On one line. Quotes are escaped, so that the text cannot seem to end and another message to begin. */
function quoted(text: string, maxChars: number): string {
  return `"${cutLine(text, maxChars).replaceAll('"', '\\"')}"`;
}

function at(agent: string): string {
  return `@${cutLine(agent, 60)}`;
}

// Tasks that were begun and left, in a line each: beside the packet of one of them, or alone.

export interface LeftWork {
  taskId: string;
  title: string;
  agent: string;
  because: "expired" | "ended" | "gone";
  /** Its client may still run. */
  isOpen: boolean;
  isHere: boolean;
  worktree?: string;
  branch?: string;
  lastSeenAt: Date;
}

/** More is a list, and there is a command for it. */
const MOST_HERE = 5;
const MOST_ELSEWHERE = 3;

/** Those of this work tree first. `hasPacket`: the text stands below another. "" when there are none. */
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
  return `${taskId} "${cutLine(title, 100)}" (${where}; @${cutLine(agent, 60)}, ${endOf(end, now)})`;
}

function endOf(
  { because, isOpen, lastSeenAt }: Pick<LeftWork, "because" | "isOpen" | "lastSeenAt">,
  now: Date,
): string {
  const time = clock(lastSeenAt, now);
  if (isOpen) return `quiet since ${time}; its session may still be open`;
  return `last seen ${time}; ${LEFT_BECAUSE[because]}`;
}

const LEFT_BECAUSE: Readonly<Record<LeftWork["because"], string>> = {
  ended: "its session has ended",
  gone: "its client is gone",
  expired: "its claim has expired",
};
