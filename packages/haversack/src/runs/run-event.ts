/** The events of a run, for the live view, plain lines, or JSON. */
import type { StreamEvent, Usage } from "../clients/stream-event.ts";
import type { RunTaskState, SessionPurpose } from "../store/run-store.ts";
import type { StopReason } from "./brakes.ts";
import type { EndWhy, LiveState, SessionEnd } from "./client-session.ts";

export type RunEvent =
  /** `open`: tasks of the scope that are not done yet. */
  | { kind: "run"; id: string; isContinued: boolean; client: string; testCommand?: string; open: number }
  | { kind: "note"; text: string }
  | {
      kind: "session";
      number: number;
      purpose: SessionPurpose;
      /** Of a review. */
      role?: string;
      tasks: readonly BriefTask[];
      batchSize: number;
      /** The number of this session among those that take tasks. */
      chain: number;
      maxChains: number;
    }
  /** The same session continues with these tasks. */
  | { kind: "batch"; number: number; tasks: readonly BriefTask[]; batchSize: number }
  | { kind: "stream"; number: number; event: StreamEvent; state: Readonly<LiveState> }
  | { kind: "asked"; number: number; why: EndWhy }
  | { kind: "session-end"; number: number; end: SessionEnd }
  | { kind: "kept"; ref: string; files: number }
  | { kind: "testing"; command: string }
  | { kind: "tests"; command: string; isGreen: boolean; tookMs: number; isKnown: boolean; text: string }
  | { kind: "task"; id: string; title: string; state: RunTaskState; text: string }
  | { kind: "merged"; id: string; branch: string; isMerged: boolean; text: string }
  | { kind: "wait"; ms: number; why: string }
  | {
      kind: "stop";
      reason: StopReason;
      text: string;
      /** `unchecked`: tasks that are done, but no test has checked them. */
      totals: { sessions: number; done: number; blocked: number; unchecked: number; usage: Usage };
    };

export interface BriefTask {
  id: string;
  title: string;
}
