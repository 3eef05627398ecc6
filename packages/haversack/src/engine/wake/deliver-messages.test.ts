import fc from "fast-check";
import { expect, it } from "vitest";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { recordInjection } from "../../store/sqlite/skills/injections.ts";
import { hasUnread } from "../../store/sqlite/work/events/running-session.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import { deliverMessages } from "./messages.ts";

const NOW = new Date("2026-03-02T09:00:00Z");

async function world() {
  const handle = openMemoryStore();
  const store = new SqliteWorkStore(handle);
  await store.seeAgent({ name: "june", sessionId: "s1" }, NOW);
  const send = (text: string, subject?: string) =>
    store.sendMessage({ to: ["june"], text, ...(subject && { subject }) }, { name: "backend", at: NOW });
  const deliver = (maxChars = 9_500, sessionId = "s1") =>
    deliverMessages({ sessionId, maxChars, isMentionOnly: false, event: "Stop" }, { handle, now: NOW });
  const isWaiting = (sessionId = "s1") => hasUnread(handle.db, sessionId, { isMentionOnly: true });
  return { handle, send, deliver, isWaiting };
}

it("says where they come from, oldest first, each once, to its session alone", async () => {
  const { handle, send, deliver, isWaiting } = await world();
  expect(isWaiting()).toBe(false);
  await send("one\nin two lines", "T1");
  await send("two");
  expect([isWaiting(), isWaiting("s2")]).toEqual([true, false]);
  expect(deliver(9_500, "s2")).toBe("");
  const text = `From Haversack: new messages for @june; times are UTC.
- 09:00 @backend on T1: one
  in two lines
- 09:00 @backend: two`;
  expect(deliver()).toBe(text);
  expect([deliver(), isWaiting()]).toEqual(["", false]);
  expect(handle.db.prepare("SELECT event, format, text FROM injections").all()).toMatchObject([
    { event: "Stop", format: "messages", text },
  ]);
});

it("leaves for the next event what there is no room for, and cuts one that never fits", async () => {
  const { send, deliver, isWaiting } = await world();
  await send("x".repeat(300));
  await send("LAST");
  expect(deliver(200)).toBe("");
  const first = deliver(450);
  expect(first).toContain("1 more wait");
  expect(first).not.toContain("LAST");
  expect(deliver(450)).toContain("LAST");
  await send("y".repeat(5_000));
  expect(deliver(1_000)).toMatch(/y … \(cut: `haversack agent inbox june --all` has the rest\)$/);
  expect(isWaiting()).toBe(false);
});

it("counts all that wait, and calls new only what came since the session was last shown messages or a packet", async () => {
  const { handle, deliver, isWaiting } = await world();
  const store = new SqliteWorkStore(handle);
  const minutes = (count: number) => new Date(NOW.getTime() + count * 60_000);
  const send = (text: string, at: Date) => store.sendMessage({ to: ["june"], text }, { name: "backend", at });
  const later = (count: number, maxChars: number) =>
    deliverMessages(
      { sessionId: "s1", maxChars, isMentionOnly: false, event: "Stop" },
      { handle, now: minutes(count) },
    );
  for (let n = 1; n <= 60; n++) await send(`number ${n}.`, NOW);
  // Like a packet without room for any of them.
  const because = { kind: "left" as const, tasks: [], session: "" };
  const packet = { event: "startup", format: "restored", text: "# Packet", because };
  recordInjection(handle.db, { sessionId: "s1", at: minutes(1), ...packet });
  expect(later(2, 300)).toMatch(/^From Haversack: 60 unread messages for @june;[\s\S]*\n5\d more wait and come with/);
  await send("IT IS NEW", minutes(3));
  expect(later(4, 300)).toMatch(/^From Haversack: 5\d unread messages \(1 new\) for @june;/);
  let last = "";
  for (let n = 0; isWaiting(); n++) last = later(5 + n, 2_000);
  expect(last).toContain("IT IS NEW");
  await send("alone", minutes(200));
  expect(later(201, 300)).toContain("a new message for @june");
  expect(deliver()).toBe("");
});

it("never exceeds its room, and brings every message in the end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 400 }), { maxLength: 6 }),
      fc.integer({ min: 300, max: 2_000 }),
      async (texts, room) => {
        const { send, deliver, isWaiting } = await world();
        for (const text of texts) await send(`m${text}`);
        for (let event = 0; event < texts.length; event++) expect(deliver(room).length).toBeLessThanOrEqual(room);
        expect(isWaiting()).toBe(false);
      },
    ),
    { numRuns: 50 },
  );
});
