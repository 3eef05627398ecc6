/**
 * Unread messages for the agent of a running session, as text: the oldest first, whole as far as there is room. Each reaches the
 * session once; what there is no room for waits for the next event. Loaded by the hook.
 */
import { stripControl } from "../../base/clean-text.ts";
import { type ClientProfile, cutFor, sizeFor } from "../../skills/showing/activation.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { showUnread, type Waiting } from "../../store/sqlite/unread-messages.ts";
import { speakerOf } from "../../wake/message.ts";
import { clock } from "../../wake/talk-pieces.ts";
import { cutLine, cutText } from "../../wake/text.ts";

export interface Delivery {
  sessionId: string;
  maxChars: number;
  /** Of a client that does not count characters. */
  sizeOf?: ClientProfile["sizeOf"];
  isMentionOnly: boolean;
  /** What it comes with, for the record. */
  event: string;
}

/** Less than this is not worth a beginning. */
const LEAST_CHARS = 300;
/** Room for the line that says that more wait. */
const REST_CHARS = 80;

export function deliverMessages(
  { sessionId, isMentionOnly, event, ...room }: Delivery,
  { handle, now }: { handle: StoreHandle; now: Date },
): string {
  if (room.maxChars < LEAST_CHARS) return "";
  return showUnread(handle, { sessionId, isMentionOnly, event, at: now }, (waiting) =>
    formatMessages(waiting, { ...room, now }),
  );
}

function formatMessages(
  { messages, total, newCount }: Waiting,
  { maxChars, now, ...client }: Pick<Delivery, "maxChars" | "sizeOf"> & { now: Date },
): { text: string; shown: number } {
  const [first] = messages;
  if (!first) return { text: "", shown: 0 };
  const to = [...new Set(messages.map((message) => message.to))];
  const whom = to.map((name) => `@${cutLine(name, 64)}`).join(", ");
  const parts = [`From Haversack: ${whatWaits(total, newCount)} for ${whom}; times are UTC.`];
  let room = maxChars - sizeFor(client, parts[0]!) - REST_CHARS;
  let shown = 0;
  for (const message of messages) {
    const about = message.subject ? ` on ${cutLine(message.subject, 64)}` : "";
    // At the start of a line; the lines of a text are indented, so that no agent's text can put the user's mark there.
    const who = speakerOf({ from: cutLine(message.from, 64), isPerson: message.isPerson === true });
    const head = `- ${clock(message.at, now)} ${who}${about}: `;
    const text = stripControl(message.text).trim().replaceAll("\n", "\n  ");
    const how = ` (cut: \`haversack inbox ${cutLine(message.to, 64)} --all\` has the rest)`;
    const whole = head + text;
    // The first one is shown even if it has to be cut: it would never fit elsewhere either.
    const fitting =
      sizeFor(client, whole) + 1 <= room
        ? whole
        : shown === 0
          ? head + cutMessage(text, room - sizeFor(client, head + how) - 1, client) + how
          : "";
    if (!fitting) break;
    parts.push(fitting);
    room -= sizeFor(client, fitting) + 1;
    shown++;
  }
  if (shown < total) parts.push(`${total - shown} more wait and come with the next event.`);
  return { text: parts.join("\n"), shown };
}

/** One that a packet had no room for is no news. */
function whatWaits(total: number, newCount: number): string {
  if (newCount === total) return total === 1 ? "a new message" : "new messages";
  const all = total === 1 ? "an unread message" : `${total} unread messages`;
  return newCount > 0 ? `${all} (${newCount} new)` : all;
}

function cutMessage(text: string, most: number, client: Pick<Delivery, "sizeOf">): string {
  return client.sizeOf ? `${cutFor(client, cutText(text, most), most - 4)} …` : cutText(text, most);
}
