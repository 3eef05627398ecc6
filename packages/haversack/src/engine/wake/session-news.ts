/** What a resumed session has not heard yet: what others did to its tasks, and its messages. Loaded by the hook. */

import { sizeFor } from "../../skills/client-size.ts";
import type { Session } from "../../store/local-store.ts";
import { writeStore } from "../../store/sqlite/access.ts";
import { recordRestored } from "../../store/sqlite/restored-skills.ts";
import { readNews } from "../../store/sqlite/session-news.ts";
import { cutLine } from "../../wake/cut-text.ts";
import { formatEvent } from "../../wake/talk-pieces.ts";
import type { SessionAnswer, StartedSession } from "../start-session.ts";
import { nameOf } from "../work/actor.ts";
import { deliverMessages } from "./deliver-messages.ts";
import type { SessionWakeParts } from "./wake-session.ts";

export function newsOf(
  { sessionId, client, source }: StartedSession,
  before: Session | undefined,
  { handle, name, now: at, regained }: SessionWakeParts & { regained: readonly { id: string; title: string }[] },
): SessionAnswer {
  const holder = name || nameOf(client.name, { sessionId });
  const { activity, lost } = before
    ? readNews(handle, { sessionId, holder, since: before.lastSeenAt })
    : { activity: [], lost: [] };
  const isBack = (id: string | undefined) => regained.some((task) => task.id === id);
  // That it expired, and that it was taken back in this moment, is said in the line on the task.
  const told = activity.filter((event) => !isBack(event.subject) || (event.kind !== "claim-expired" && event.at < at));
  const lines = [
    ...regained.map(({ id, title }) => `${id} "${cutLine(title, 100)}" is yours again: its claim had expired.`),
    ...told.toReversed().map((event) => formatEvent(event, at)),
    ...lost.map(
      ({ id, title, status, agent }) =>
        `You no longer hold ${id} "${cutLine(title, 100)}" (${agent ? `@${cutLine(agent, 60)}, ` : ""}${status}). Claim it again before you go on with it.`,
    ),
  ];
  const news = lines.length === 0 ? "" : [told.length + lost.length > 0 ? HEAD : `${RESUMES}.`, ...lines].join("\n");
  const room = {
    maxChars: client.maxChars - sizeFor(client, news) - 2,
    sizeOf: client.sizeOf,
    isMentionOnly: false,
    event: source,
  };
  const messages = deliverMessages({ sessionId, ...room }, { handle, now: at });
  if (news) {
    const restored = { sessionId, at, event: source, text: news, tokens: 0, skills: [], carried: [] };
    writeStore(handle, (db) => recordRestored(db, restored));
  }
  const context = [news, messages].filter(Boolean).join("\n\n");
  return { problems: [], ...(context && { context }) };
}

const RESUMES = "From Haversack, as this session resumes";
const HEAD = `${RESUMES}: what others did to its tasks meanwhile; times are UTC.`;
