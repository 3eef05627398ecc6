/** Decides from a session's end what comes next: continue, wait for the model's server, or stop the run. */
import { type FailureReason, PASSING_FAILURES } from "../clients/stream-event.ts";
import { backOffMs, MOST_CRASHES, MOST_MODEL_ERRORS, type StopReason } from "./brakes.ts";
import type { SessionEnd } from "./client-session.ts";

/** Thrown anywhere in a run to stop it in good order. */
export class RunStop extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason, text: string) {
    super(text);
    this.reason = reason;
  }
}

export type Advice = { kind: "go-on" } | { kind: "wait"; ms: number; why: string } | { kind: "stop"; stop: RunStop };

/** Failures that waiting cannot fix, with their remedies. */
const REMEDIES: Partial<Record<FailureReason, string>> = {
  auth: " (log in to the client, or set its key)",
  untrusted: " (start the client here once and trust the folder, or pass its option for that after --)",
  denied: " (the client's own options after -- give permissions)",
  "not-found": "",
  budget: "",
};

export class SessionHealth {
  #modelErrors = 0;
  #crashes = 0;

  after({ kind, reason, text }: Pick<SessionEnd, "kind" | "reason" | "text">): Advice {
    if (kind === "failed" && reason !== undefined && PASSING_FAILURES.has(reason)) {
      const why = `${reason}: ${text}`;
      if (++this.#modelErrors >= MOST_MODEL_ERRORS) return { kind: "stop", stop: new RunStop("model-errors", why) };
      return { kind: "wait", ms: backOffMs(this.#modelErrors), why };
    }
    this.#modelErrors = 0;
    const remedy = kind === "failed" && reason !== undefined ? REMEDIES[reason] : undefined;
    if (remedy !== undefined) return { kind: "stop", stop: new RunStop("client-fails", `${text}${remedy}`) };
    // A limit of turns is the user's own, so the next session continues. Other errors may not go away.
    const isFailure = kind === "crashed" || kind === "hung" || (kind === "failed" && reason !== "max-turns");
    this.#crashes = isFailure ? this.#crashes + 1 : 0;
    if (this.#crashes < MOST_CRASHES) return { kind: "go-on" };
    return {
      kind: "stop",
      stop: new RunStop("client-fails", `${this.#crashes} sessions in a row ended like this: ${text}`),
    };
  }
}
