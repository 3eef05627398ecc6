/** When a Gemini CLI session is told what it starts with: at prompts and tool results, never at SessionStart. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { answerEvent } from "../../engine/events/answer-event.ts";
import type { EventProject } from "../../engine/events/event-project.ts";
import { profileOf } from "../../skills/showing/activation.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { type SessionTouch, SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { geminiStartBefore } from "./adapter.ts";

const SESSION = { sessionId: "g1", cwd: "/repo" };
const at = (minute: number) => new Date(Date.UTC(2031, 0, 1, 12, minute));

function scene() {
  const handle = openMemoryStore();
  const sessions = new SqliteLocalStore(handle);
  const folder = mkdtempSync(join(tmpdir(), "haversack-gemini-start-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const transcript_path = join(folder, "session.jsonl");
  return {
    sessions,
    touch: (minute: number, event?: NonNullable<SessionTouch["event"]>) =>
      sessions.touchSession({ ...SESSION, client: "gemini", at: at(minute), ...(event && { event }) }),
    /** Writes a shortened history as the client does. */
    compact: (minute: number) => {
      const summary = {
        id: "1",
        timestamp: at(minute).toISOString(),
        type: "user",
        content: [{ text: "<state_snapshot>x" }],
      };
      writeFileSync(transcript_path, `${JSON.stringify({ $set: { messages: [summary] } })}\n`);
    },
    /** The client has opened the session again. */
    opened: (minute: number) => {
      const event = { ...SESSION, client: profileOf("gemini"), cwd: "/repo", agentId: "", kind: "opened" as const };
      answerEvent(event, { handle, now: at(minute), isRehearsal: true } as EventProject);
    },
    /** The source of the start that is answered with this event. */
    ask: (hook_event_name: string) =>
      geminiStartBefore({ hook_event_name, transcript_path, prompt: "x" }, SESSION, { handle }),
  };
}

describe("the first prompt", () => {
  it("of a session that nobody has seen is its start", () => {
    const { ask, sessions } = scene();
    expect(ask("SessionStart")).toBeUndefined();
    expect(sessions.getSession(SESSION)).toBeUndefined();
    expect(ask("BeforeAgent")).toBe("startup");
  });

  it("after an end is a resumption, and later ones are none", () => {
    const { ask, touch } = scene();
    touch(0);
    expect(ask("BeforeAgent")).toBeUndefined();
    touch(2, "end");
    expect(ask("AfterTool")).toBeUndefined();
    expect(ask("BeforeAgent")).toBe("resume");
  });

  it("of a session that was killed is one too, because its new start ends the old one", () => {
    const { ask, touch, sessions, opened } = scene();
    touch(0);
    opened(5);
    expect(sessions.getSession(SESSION)?.endedAt).toEqual(at(5));
    expect(ask("BeforeAgent")).toBe("resume");
  });
});

describe("a compaction", () => {
  it.each(["BeforeAgent", "AfterTool"])("is told by the next %s, once", (event) => {
    const { ask, touch, compact } = scene();
    touch(0);
    compact(1);
    expect(ask(event)).toBe("compact");
    touch(2, "window");
    expect(ask(event)).toBeUndefined();
  });

  it("that came before the last event is an old one", () => {
    const { ask, touch, compact } = scene();
    compact(1);
    touch(2);
    expect(ask("AfterTool")).toBeUndefined();
  });

  it("since the last prompt counts, where the session has ended since", () => {
    const { ask, touch, compact } = scene();
    touch(0, "prompt");
    compact(1);
    touch(2, "end");
    expect(ask("BeforeAgent")).toBe("compact");
  });
});

it("looks at no other event", () => {
  const { ask } = scene();
  for (const event of ["BeforeTool", "SessionEnd", "AfterAgent"]) expect(ask(event)).toBeUndefined();
});
