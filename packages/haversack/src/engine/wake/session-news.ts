/** What a resumed session has not heard yet: what others did to its tasks, and its messages. Loaded by the hook. */

import { sizeFor } from "../../skills/client-size.ts";
import type { Session } from "../../store/local-store.ts";
import { writeEvent } from "../../store/sqlite/access.ts";
import { readNews } from "../../store/sqlite/session-news.ts";
import { savePacket } from "../../store/sqlite/shown-packet.ts";
import { cutLine } from "../../wake/cut-text.ts";
import { formatEvent } from "../../wake/talk-pieces.ts";
import type { SessionAnswer, StartedSession } from "../start-session.ts";
import { nameOf } from "../work/actor.ts";
import { deliverMessages } from "./deliver-messages.ts";
import type { SessionWakeParts } from "./wake-session.ts";

export function newsOf(
  { sessionId, client, source }: StartedSession,
  before: Session | undefined,
  { handle, name, now: at }: SessionWakeParts,
): SessionAnswer {
  const holder = name || nameOf(client.name, { sessionId });
  const { activity, lost } = before
    ? readNews(handle, { sessionId, holder, since: before.lastSeenAt })
    : { activity: [], lost: [] };
  const lines = [
    ...activity.toReversed().map((event) => formatEvent(event, at)),
    ...lost.map(
      ({ id, title, status, agent }) =>
        `You no longer hold ${id} "${cutLine(title, 100)}" (${agent ? `@${cutLine(agent, 60)}, ` : ""}${status}). Claim it again before you go on with it.`,
    ),
  ];
  const news = lines.length === 0 ? "" : [HEAD, ...lines].join("\n");
  const room = {
    maxChars: client.maxChars - sizeFor(client, news) - 2,
    sizeOf: client.sizeOf,
    isMentionOnly: false,
    event: source,
  };
  const messages = deliverMessages({ sessionId, ...room }, { handle, now: at });
  if (news) {
    const restored = { sessionId, at, event: source, text: news, tokens: 0, skills: [], carried: [] };
    writeEvent(handle, "packet", savePacket, restored);
  }
  const context = [news, messages].filter(Boolean).join("\n\n");
  return { problems: [], ...(context && { context }) };
}

const HEAD = "From Haversack, as this session resumes: what others did to its tasks meanwhile; times are UTC.";
