/** What a resumed session has not heard yet: what others did to its tasks, and its messages. Loaded by the hook. */

import { sizeFor } from "../../skills/showing/activation.ts";
import type { Session } from "../../store/local-store.ts";
import { writeEvent } from "../../store/sqlite/access.ts";
import { recordInjection } from "../../store/sqlite/injections.ts";
import { readNews } from "../../store/sqlite/session-news.ts";
import { formatEvent } from "../../wake/talk-pieces.ts";
import { cutLine } from "../../wake/text.ts";
import { sessionName } from "../../work/agent-name.ts";
import type { SessionAnswer, StartedSession } from "../events/start-session.ts";
import { deliverMessages } from "./deliver-messages.ts";
import type { SessionWakeParts } from "./wake-session.ts";

export function newsOf(
  { sessionId, client, source }: StartedSession,
  before: Session | undefined,
  { handle, name, now: at, regained }: SessionWakeParts & { regained: readonly { id: string; title: string }[] },
  /** What comes before it. */
  first = "",
): SessionAnswer {
  const holder = name || sessionName(client.name, { sessionId });
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
  const head = told.length + lost.length > 0 ? HEAD : `${RESUMES}.`;
  const news = [...(first ? [first] : []), ...(lines.length > 0 ? [head, ...lines] : [])].join("\n");
  const room = {
    maxChars: client.maxChars - sizeFor(client, news) - 2,
    sizeOf: client.sizeOf,
    isMentionOnly: false,
    event: source,
  };
  const messages = deliverMessages({ sessionId, ...room }, { handle, now: at });
  if (news) {
    const tasks = [...lost.map(({ id }) => id), ...activity.flatMap(({ subject }) => subject ?? [])];
    const because = {
      kind: "news" as const,
      since: before?.lastSeenAt.toISOString() ?? at.toISOString(),
      tasks: [...new Set(tasks)],
    };
    writeEvent(handle, "injection", recordInjection, {
      sessionId,
      at,
      event: source,
      format: "news",
      text: news,
      because,
    });
  }
  const context = [news, messages].filter(Boolean).join("\n\n");
  return { problems: [], ...(context && { context }) };
}

const RESUMES = "From Haversack, as this session resumes";
const HEAD = `${RESUMES}: what others did to its tasks meanwhile; times are UTC.`;
