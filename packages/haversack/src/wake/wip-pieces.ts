/** The work in progress, line by line, without what the next action says already. Loaded by the hook. */
import { cutLine, listOf, objectOf, textOf } from "./cut-text.ts";
import { stemsOf } from "./phrase.ts";
import { type Piece, type PieceOptions, Pieces } from "./piece.ts";
import { Said } from "./said.ts";
import type { WakeState } from "./state.ts";
import { listed } from "./task-pieces.ts";

export function wipPieces({ wip = {}, task }: WakeState, options: PieceOptions): Piece[] {
  const { said, how } = options;
  // Longer than what a sentence quotes: compared by its beginning.
  const isSaid = (text: string): boolean => said.has(cutLine(text, 300));
  const pieces = new Pieces(["wip", "task"], { group: "work", how: how.wip, order: 50 });
  const addLine = (rank: number, key: string, label: string, value: string, isRed = false): void => {
    if (!value || isSaid(value)) return;
    const cut = (maxChars: number): string => `${label}: ${cutLine(value, maxChars)}`;
    pieces.add(rank, key, cut(isRed ? 300 : 600), {
      short: cut(140),
      says: value,
      order: 40 + rank / 10,
      ...(isRed && RED),
    });
  };

  const tests = objectOf(wip.test_results);
  const command = cutLine(textOf(tests["command"]), 200);
  const failing = cutLine(textOf(tests["failing_test"]), 300);
  const red = new Said();
  red.add(failing);
  if (failing) {
    const short = `Failing test: ${cutLine(failing, 140)}`;
    pieces.add(4, "failing test", `Failing test: ${failing}${command && ` (run: ${command})`}`, {
      ...RED,
      short,
      says: failing,
    });
  }
  for (const [index, reason] of (task?.blockers ?? []).slice(-3).entries())
    addLine(4, `blocker ${index}`, "Blocked", reason, true);
  for (const [index, entry] of listOf(wip.errors).slice(-10).reverse().entries()) {
    const { type, file, message } = objectOf(entry);
    if (isSaid(textOf(message))) continue;
    // Often it is the failing test's own.
    const parts = failing && red.has(cutLine(textOf(message), 300)) ? [type, file] : [type, file, message];
    const text = parts.flatMap((part) => cutLine(textOf(part), 300) || []).join(": ");
    addLine(index < 2 ? 4 : 34, `error ${index}`, "Error", textOf(message) && text, index < 2);
  }

  const open = stringsOf(wip.uncommitted_files);
  addLine(20, "next step", "Next", textOf(wip.next_step));
  addLine(20, "worktree", "Worktree", textOf(wip.worktree));
  if (!open.every(isSaid)) addLine(20, "uncommitted files", "Not committed", listed(open, 15));
  addLine(21, "context", "Doing", textOf(wip.context));
  addDecisions(pieces, listOf(wip.decisions), options);
  const files = stringsOf(wip.files_modified).filter((file) => !isSaid(file) && !open.includes(file));
  if (files.length > 0) addLine(29, "changed files", "Changed", listed(files, 15));
  addLine(30, "state", "State", formatState(wip, tests, failing ? "" : command));
  addLine(31, "plan item", "In its own plan", textOf(objectOf(wip.plan)["current"]));
  for (const [field, value] of Object.entries(wip)
    .filter(([field]) => !KNOWN.has(field))
    .slice(0, 20)) {
    const text = typeof value === "string" ? value : value == null ? "" : (JSON.stringify(value) ?? "");
    addLine(33, `field ${cutLine(field, 60)}`, cutLine(field, 60), text);
  }
  return pieces.list;
}

/** Told before shares are counted. */
const RED = { group: undefined, order: 40.4 };

const KNOWN: ReadonlySet<string> = new Set([
  "phase",
  "worktree",
  "files_modified",
  "uncommitted_changes",
  "uncommitted_files",
  "last_commit",
  "decisions",
  "test_results",
  "errors",
  "context",
  "next_step",
  "plan",
  "updated_at",
]);

export const MOST_DECISIONS = 30;
const FIRST_DECISIONS = 8;
const NEWEST_DECISIONS = 3;

/** First the newest, then those whose words are about what is being done: how old a decision is does not say whether it holds. */
function addDecisions(pieces: Pieces, entries: readonly unknown[], { about }: PieceOptions): void {
  const decisions = entries.slice(-MOST_DECISIONS).flatMap((entry, index, { length }) => {
    const { decision, reason } = typeof entry === "string" ? { decision: entry, reason: "" } : objectOf(entry);
    const text = cutLine(textOf(decision), 300);
    if (!text) return [];
    const why = cutLine(textOf(reason), 200);
    const age = length - index;
    const words = [...stemsOf(text)];
    const hits = age <= NEWEST_DECISIONS ? 99 : words.filter((word) => about.has(word)).length;
    return { text, full: why ? `${text} (${why})` : text, index, age, hits };
  });
  for (const [place, { text, full, index }] of decisions.sort((a, b) => b.hits - a.hits || a.age - b.age).entries()) {
    pieces.add((place < FIRST_DECISIONS ? 22 : 36) + place / 100, `decision ${index}`, `- ${full}`, {
      short: `- ${text}`,
      what: "decision",
      label: "Decided:",
      order: 60 + index / 100,
    });
  }
}

function formatState(
  wip: Record<string, unknown>,
  { ran, passed, failed }: Record<string, unknown>,
  command: string,
): string {
  const plan = objectOf(wip["plan"]);
  const count = (value: unknown, word: string): string => (typeof value === "number" ? `${value} ${word}` : "");
  const [phase, commit] = [cutLine(textOf(wip["phase"]), 60), cutLine(textOf(wip["last_commit"]), 60)];
  return [
    phase && `phase ${phase}`,
    // Agents leave `ran` out.
    (ran === true || (ran !== false && (typeof passed === "number" || typeof failed === "number"))) &&
      `tests ${[count(passed, "passed"), count(failed, "failed")].filter(Boolean).join(", ") || "ran"}${command && ` (${command})`}`,
    typeof plan["total"] === "number" && `own plan ${Number(plan["done"] ?? 0)} of ${plan["total"]} done`,
    commit && `last commit ${commit}`,
  ]
    .filter(Boolean)
    .join("; ");
}

function stringsOf(value: unknown): string[] {
  return listOf(value).flatMap((entry) => textOf(entry) || []);
}
