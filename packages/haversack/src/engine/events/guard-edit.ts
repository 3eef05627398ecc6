/**
 * Guardrails on file edits: a rule with `block` or `require` whose paths fit the file asks for its skill first. It warns, once
 * per window. Only where the user has switched `skills.enforce` on, and accepted the rule if it came with the project, does `block` refuse
 * the edit. Loaded by the hook.
 */

import { runPatterns } from "../../skills/matching/run-patterns.ts";
import { activationOf } from "../../skills/showing/activation.ts";
import { writeEvent } from "../../store/sqlite/access.ts";
import { type Because, recordInjection } from "../../store/sqlite/skills/injections.ts";
import type { EventAnswer, EventBase } from "./client-event.ts";
import type { EventParts } from "./later-events.ts";

export function guardEdit(
  event: EventBase & { path: string },
  { root, handle, index, ledger, settings, env, now }: EventParts,
): EventAnswer {
  const path = event.path.startsWith(`${root}/`) ? event.path.slice(root.length + 1) : event.path;
  const rows = index.patterns(["path", "path-exclude"]);
  const hits = runPatterns(rows, [path]).hits.map((at) => rows[at]!);
  const excluded = new Set(hits.filter(({ kind }) => kind === "path-exclude").map(({ skill }) => skill));
  const keys = new Set(hits.flatMap(({ kind, skill }) => (kind === "path" && !excluded.has(skill) ? [skill] : [])));
  const cards = index
    .cards([...keys])
    .filter(({ rule }) => rule?.enforcement === "block" || rule?.enforcement === "require");
  if (cards.length === 0) return {};

  const tracking = ledger.tracking(event);
  for (const card of cards) {
    const entry = tracking.ledger.find(({ skill }) => skill === card.id);
    const override = card.rule?.skip.envOverride && env[card.rule.skip.envOverride];
    if (entry?.loadedHash || (override && override !== "0")) continue;
    const message = `${card.rule?.blockMessage ?? `Edits of ${path} ask for the skill ${card.id}.`} Activate it first: ${activationOf(card, event.client)} (haversack)`;
    const because: Because = {
      kind: "guard",
      skill: card.id,
      path,
      enforcement: card.rule?.enforcement ?? "require",
    };
    if (settings().enforce && card.rule?.enforcement === "block" && !card.rule.isUnaccepted) {
      const { sessionId, agentId } = event;
      const text = message;
      writeEvent(handle, "injection", recordInjection, {
        sessionId,
        agentId,
        at: now,
        event: "before-tool",
        format: "refusal",
        text,
        because,
      });
      return { deny: message };
    }
    // A warning was given in this window already.
    if (entry) continue;
    ledger.recordShown({
      sessionId: event.sessionId,
      agentId: event.agentId,
      at: now,
      window: tracking.window,
      promptNumber: tracking.promptCount,
      skill: card.id,
      text: message,
      event: "before-tool",
      because,
    });
    return { context: message };
  }
  return {};
}
