/** Tasks that were begun and left, in a line each: beside the packet of one of them, or alone. Loaded by the hook. */
import { cutLine } from "./cut-text.ts";
import { clock } from "./talk-pieces.ts";

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
