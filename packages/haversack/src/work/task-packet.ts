/**
 * What an agent needs to work on a task, as text: what it is, what came of it so far, and where it stands, the most important
 * first in the room there is. Loaded by the hook.
 */
import { fit, type Part } from "../tokens/fit.ts";
import { formatWip } from "./format-wip.ts";

/** A task as the packet shows it. */
export interface PacketTask {
  id: string;
  title: string;
  status: string;
  type: string;
  skill?: string;
  note?: string;
  description?: string;
  acceptanceCriteria?: string;
  contextSummary?: string;
  handoffNotes?: string;
  plan?: string;
  files: string[];
  steps: { text: string; done?: boolean }[];
  wip?: Record<string, unknown>;
  /** What others stored about it, newest first. */
  handoffs: { role: string; status: string; summary: string }[];
}

export function taskPacket(task: PacketTask, { maxChars }: { maxChars: number }): string {
  const { id, title, status, type, skill, plan } = task;
  const facts = [`status ${status}`, `type ${type}`, skill && `skill ${skill}`, plan && `plan ${plan}`].filter(Boolean);
  const how = `get_task(task_id: "${id}", fields: "full")`;
  const part = (rank: number, key: string, text: string | undefined, order = rank): Part[] =>
    text ? [{ key, rank, order, full: text, short: shortened(text, Math.floor(maxChars / 6)), how }] : [];
  const { text } = fit(
    [
      {
        key: "task",
        rank: 0,
        full: `# Task ${id}: ${oneLine(title)}\n${facts.join(", ")}`,
        short: `# Task ${id}: ${oneLine(title).slice(0, 200)}`,
        name: `# Task ${id}`,
      },
      ...part(1, "note", task.note && `Note: ${task.note}`),
      ...part(2, "acceptance criteria", titled("Done when", task.acceptanceCriteria), 4),
      ...part(3, "description", task.description && `## What to do\n${task.description}`),
      ...part(5, "work in progress", task.wip && formatWip(task.wip)),
      ...part(6, "handoffs", titled("Said so far", lines(task.handoffs.map(formatHandoff)))),
      ...part(7, "steps", titled("Steps", lines(task.steps.map(formatStep))), 4.5),
      ...part(8, "files", titled("Files", lines(task.files)), 4.6),
      ...part(9, "context", titled("Context", task.contextSummary)),
      ...part(10, "notes for whoever goes on", titled("Notes for whoever goes on", task.handoffNotes)),
    ],
    { budget: maxChars, count: (piece) => piece.length, footer: true },
  );
  return text;
}

function titled(title: string, text: string | undefined): string | undefined {
  return text ? `## ${title}\n${text}` : undefined;
}

function lines(entries: readonly string[]): string {
  return entries.map((entry) => `- ${entry}`).join("\n");
}

function formatStep({ text, done }: { text: string; done?: boolean }): string {
  return `[${done ? "x" : " "}] ${oneLine(text)}`;
}

function formatHandoff({ role, status, summary }: PacketTask["handoffs"][number]): string {
  return `${role} ${status}: ${oneLine(summary).slice(0, 600)}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Cut at a line or a word. Undefined: it is short already. */
function shortened(text: string, maxChars: number): string | undefined {
  if (text.length <= maxChars || maxChars < 2 * CUT.length) return undefined;
  const head = text.slice(0, maxChars - CUT.length);
  return head.slice(0, Math.max(head.lastIndexOf("\n"), head.lastIndexOf(" "), maxChars / 2)) + CUT;
}

const CUT = " … (cut; get_task has all of it)";
