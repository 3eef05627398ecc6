/** Who the agent is, the plan it follows, what is said to it and what happened. Loaded by the hook. */
import { cutLine, cutText, deepen } from "./cut-text.ts";
import { type Piece, type PieceOptions, Pieces } from "./piece.ts";
import type { WakeState } from "./state.ts";

export function identityPieces({ agent: { name, role, branch, worktree } }: WakeState): Piece[] {
  const you = `You are ${at(name)}`;
  const as = `${you}, the ${cutLine(role, 60)}${role === "orchestrator" ? " for this project" : ""}`;
  const on = branch ? `${as}, on branch ${cutLine(branch, 120)}` : as;
  const pieces = new Pieces(["identity"]);
  const full = worktree ? `${on}, in worktree ${cutLine(worktree, 200)}.` : `${on}.`;
  pieces.add(1, "identity", full, { short: `${on}.`, name: `${you}.` });
  return pieces.list;
}

export function missingPieces(lines: readonly string[]): Piece[] {
  const pieces = new Pieces(["missing"], { what: "missing thing" });
  for (const [index, line] of lines.slice(0, 5).entries()) {
    pieces.add(7, `missing ${index}`, `Missing: ${cutLine(line, 250)}`, { short: `Missing: ${cutLine(line, 100)}` });
  }
  return pieces.list;
}

export function planPieces({ plan }: WakeState, { budgetChars }: PieceOptions): Piece[] {
  if (!plan) return [];
  const { file, section, text = "", lineCount } = plan;
  const name = cutLine(file, 300);
  const pieces = new Pieces(["plan"], { group: "plan", how: `Read ${name}` });
  const lines = lineCount ? ` (${lineCount} lines)` : "";
  const part = section ? `, section "${cutLine(section, 150)}"` : "";
  pieces.add(31, "plan file", `**File:** ${name}${lines}${part}`, { what: "plan", short: `**File:** ${name}` });
  const body = withoutHeading(text, section);
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
  return section && /^#{1,6} /.test(first) && first.includes(section) ? clean.slice(first.length).trim() : clean;
}

const MOST_MESSAGES = 15;
/** So many are told before shares are counted: others wait for an answer. */
const FIRST_MENTIONS = 3;

export function messagePieces(
  { messages, newMessage, activity, now }: WakeState,
  { budgetChars, how }: PieceOptions,
): Piece[] {
  const said = new Pieces(["new_message"], { how: how.messages });
  if (newMessage) {
    const quote = (maxChars: number): string =>
      `${at(newMessage.from)}: "${cutLine(newMessage.text, Math.floor(maxChars))}"`;
    said.add(5, "new message", quote(Math.min(1_500, budgetChars / 4)), {
      short: quote(Math.min(400, budgetChars / 8)),
      name: quote(80),
      rest: "rest of the new message",
    });
  }
  const unread = messages.filter(({ id }) => id !== newMessage?.id);
  const box = new Pieces(["messages", "new_message"], { how: how.messages, label: "Unread:" });
  // The newest first: what was said last may take back what was said before.
  for (const isCall of [true, false]) {
    const alike = unread.filter(({ isMention }) => isMention === isCall);
    for (const [age, message] of alike.slice(-MOST_MESSAGES).reverse().entries()) {
      const isFirst = isCall && age < FIRST_MENTIONS;
      const who = `- ${clock(message.at, now)} ${at(message.from)}${message.taskId ? ` on ${cutLine(message.taskId, 64)}` : ""}`;
      box.add(
        (isFirst ? 9 : isCall ? 10 : 60) + age / 100,
        `message ${cutLine(message.id, 60)}`,
        `${who}: "${cutLine(message.text, isFirst ? 240 : isCall ? 400 : 200)}"`,
        {
          short: `${who}: "${cutLine(message.text, 120)}"`,
          what: isCall ? "unread mention" : "unread message",
          order: 80 + unread.indexOf(message),
          group: isFirst ? undefined : isCall ? "messages" : "talk",
        },
      );
    }
  }
  const events = new Pieces(["activity"], { group: "talk", how: how.activity, what: "event" });
  for (const [age, event] of activity.slice(0, 10).entries()) {
    const what = [event.subject, event.text || event.kind].flatMap((part) => cutLine(part ?? "", 120) || []).join(": ");
    events.add(70 + age / 100, `event ${age}`, `- ${clock(event.at, now)} ${at(event.actor)} ${what}`, { order: -age });
  }
  return [...said.list, ...box.list, ...events.list];
}

/** Today's time, else with its day. UTC: the packet says so. */
function clock(time: Date, now: Date): string {
  if (Number.isNaN(time.getTime())) return "--:--";
  const text = time.toISOString();
  const isToday = !Number.isNaN(now.getTime()) && now.toISOString().slice(0, 10) === text.slice(0, 10);
  return isToday ? text.slice(11, 16) : `${text.slice(5, 10)} ${text.slice(11, 16)}`;
}

function at(agent: string): string {
  return `@${cutLine(agent, 60)}`;
}
