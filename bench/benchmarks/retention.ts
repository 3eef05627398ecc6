/**
 * How much of a session's state a packet still contains at a given size, compared with a plain cut of the same state, latest first.
 * The state and the 40 facts are in `retention-facts.ts`. A fact counts if its words are in the text; whether a model uses them
 * is not measured.
 */
import { loadCounter, type TokenCounter } from "../../packages/haversack/src/tokens/count.ts";
import { estimateTokens } from "../../packages/haversack/src/tokens/estimate.ts";
import { assemblePacket } from "../../packages/haversack/src/wake/packet.ts";
import type { WakeState } from "../../packages/haversack/src/wake/state.ts";
import { formatWip } from "../../packages/haversack/src/work/wip/wip.ts";
import { type BenchResult, quantile } from "../harness.ts";
import { crowded, FACTS, STATE } from "./retention-facts.ts";

const BUDGETS = [500, 1_000, 2_500, 8_000];

export const retention = {
  name: "retention",
  summary: "Facts of a session's state that a packet still carries at a given size",

  async run(): Promise<BenchResult> {
    const count = await loadCounter();
    const scenes = { "as planted": STATE, crowded: crowded() };
    const results = Object.entries(scenes).flatMap(([scene, state]) =>
      BUDGETS.map((budget) => {
        const packet = assemblePacket(state, { budget, count, unit: "tokens" }).text;
        return {
          scene,
          budget,
          packet: carried(packet, count),
          latestFirst: carried(cut(state, budget, count), count),
        };
      }),
    );
    const matter = FACTS.filter(({ matters }) => matters).length;
    const share = (kept: number): string => `${Math.round((100 * kept) / matter)}%`;
    return {
      table: {
        columns: ["scene", "budget", "packet: matter", "others", "tokens", "latest first: matter", "others", "tokens"],
        rows: results.map(({ scene, budget, packet, latestFirst }) => [
          scene,
          budget,
          ...[packet, latestFirst].flatMap(({ matter: kept, others, tokens }) => [share(kept), others, tokens]),
        ]),
      },
      goals: results
        .filter(({ budget }) => budget === 1_000)
        .map(({ scene, packet }) => ({
          name: `facts that matter at 1,000 tokens, ${scene}`,
          value: Math.round((100 * packet.matter) / matter),
          limit: 90,
          side: "at-least" as const,
          unit: "%",
        })),
      notes: [
        `${FACTS.length} facts, of which ${matter} matter for the next action; "others" counts the remaining ${FACTS.length - matter}. Tokens: o200k.`,
        `Whole state: ${Object.entries(scenes)
          .map(([scene, state]) => `${scene} ${count(latestFirst(state))} tokens`)
          .join(", ")}.`,
        ...results
          .filter(({ packet }) => packet.lost.length > 0)
          .map(({ scene, budget, packet }) => `Lost at ${budget}, ${scene}: ${packet.lost.join("; ")}`),
        `One packet of the crowded scene, in process: ${timeOne(crowded())}`,
      ],
      data: results,
    };
  },
};

function carried(text: string, count: TokenCounter) {
  const has = (needles: readonly string[]): boolean => needles.every((needle) => text.includes(needle));
  const kept = FACTS.filter(({ needles }) => has(needles));
  return {
    matter: kept.filter(({ matters }) => matters).length,
    others: kept.filter(({ matters }) => !matters).length,
    lost: FACTS.filter(({ matters, needles }) => matters && !has(needles)).map(({ needles }) => needles.at(-1)),
    tokens: count(text),
  };
}

/** The longest start of the text, in whole characters, that fits the budget. */
function cut(state: WakeState, budget: number, count: TokenCounter): string {
  const text = latestFirst(state);
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (count(text.slice(0, middle)) <= budget) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low);
}

/**
 * What a script without ranking would do: identity and task, then everything with a time, newest first, then the rest. It gets the
 * same texts in a form as short as the packet's own.
 */
function latestFirst({
  agent,
  task,
  wip,
  wipUpdatedAt,
  handoffs,
  messages,
  activity,
  tree,
  story,
  plan,
  skills,
}: WakeState): string {
  const time = (at: Date): string => at.toISOString().slice(11, 16);
  const dated = [
    ...(wip && wipUpdatedAt ? [{ at: wipUpdatedAt, text: formatWip(wip) }] : []),
    ...handoffs.map(({ at, taskId, role, status, summary }) => ({
      at,
      text: `${time(at)} ${taskId} ${role} ${status}: ${summary}`,
    })),
    ...messages.map(({ at, from, text }) => ({ at, text: `${time(at)} @${from}: ${text}` })),
    ...activity.map(({ at, actor, text, subject }) => ({ at, text: `${time(at)} @${actor} ${subject ?? ""} ${text}` })),
  ].sort((a, b) => b.at.getTime() - a.at.getTime());
  return [
    `You are @${agent.name}, ${agent.role}, on branch ${agent.branch}.`,
    ...(task ? [`Task ${task.id}: ${task.title} (${task.status})`] : []),
    ...dated.map(({ text }) => text),
    ...(task
      ? [
          task.description,
          task.acceptanceCriteria,
          ...task.steps.map(({ text, done }) => `- [${done ? "x" : " "}] ${text}`),
          task.contextSummary,
          task.handoffNotes,
        ]
      : []),
    ...(story ? [`${story.title}: ${story.done} of ${story.total} done`] : []),
    ...tree.map(({ id, title, status }) => `- ${id} ${title} (${status})`),
    ...(plan ? [plan.file, plan.text] : []),
    ...skills.map(({ id, body }) => `${id}\n${body}`),
  ]
    .filter(Boolean)
    .join("\n");
}

/** Measures as the hooks do: characters for Claude Code, estimated tokens for Codex. */
function timeOne(state: WakeState): string {
  const ways = [
    { name: "9,500 characters", budget: 9_500, count: (text: string) => text.length, unit: "chars" as const },
    { name: "2,500 estimated tokens", budget: 2_500, count: estimateTokens, unit: "tokens" as const },
  ];
  return ways
    .map(({ name, ...options }) => {
      const times = Array.from({ length: 300 }, () => {
        const start = performance.now();
        assemblePacket(state, { ...options });
        return performance.now() - start;
      });
      return `${name} ${times[0]?.toFixed(1)} ms the first time, ${quantile(times, 0.5).toFixed(2)} ms after (median of ${times.length})`;
    })
    .join("; ");
}
