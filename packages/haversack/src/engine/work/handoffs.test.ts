import { describe, expect, it } from "vitest";
import { countTokens } from "../../tokens/count.ts";
import { createEpic, createStory } from "./groups.ts";
import { decayHandoffs, getHandoff, listHandoffs, restoreHandoffs, setHandoff } from "./handoffs.ts";
import { memoryWork } from "./memory-work.suite.ts";
import { setStatus } from "./set-status.ts";
import { createTask } from "./tasks.ts";

describe("setHandoff", () => {
  it("answers with status and summary alone", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    const { view } = await setHandoff({ taskId: id, status: "PASS", summary: "All green.", details: "log" }, work);
    expect(view).toEqual({ status: "PASS", summary: "All green." });
  });

  it.each([
    ["English", "The login form now checks the address and the password on every key. ".repeat(25)],
    ["German", "Die Überprüfung der Größenangaben für Räume wurde übernommen. ".repeat(30)],
    ["Chinese", "登录表单现在会在每次按键时检查地址和密码。".repeat(80)],
    ["emoji", "🎉✅🚀".repeat(300)],
    ["quotes and breaks", '"a"\n\t\\'.repeat(250)],
    ["hex", "a1f09bc3d4e5f607".repeat(120)],
    ["one word", "x".repeat(2000)],
  ])("stays within 60 tokens, whatever was stored: %s", async (_, summary) => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    const { view, handoff } = await setHandoff({ taskId: id, status: "BLOCKED", summary }, work);
    expect(await countTokens(JSON.stringify(view))).toBeLessThanOrEqual(60);
    expect(view.summary).toMatch(/…$/);
    expect(handoff.summary).toBe(summary.trim());
  });

  it("counts attempts per role; the same again is the same one", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    const set = async (summary: string, role?: string) =>
      (await setHandoff({ taskId: id, status: "pass", summary, role }, work)).handoff;
    expect(await set("one")).toMatchObject({ role: "implementer", attempt: 1, status: "PASS" });
    expect(await set("two", "implementer")).toMatchObject({ attempt: 2 });
    expect(await set("two")).toMatchObject({ attempt: 2 });
    expect(await set("two", "fixer")).toMatchObject({ attempt: 1 });
    expect((await listHandoffs({ taskId: id }, work)).total).toBe(3);
  });

  it.each([
    [{ status: "OK" }, "status must be one of PASS, FAIL, BLOCKED"],
    [{ summary: "" }, "summary must not be empty"],
    [{ summary: "x".repeat(2001) }, "put the whole into full_details"],
    [{ attempt: 0 }, "attempt must be a whole number of at least 1, but is 0"],
    [{ taskId: "T000000000009" }, 'there is no task "T000000000009"'],
  ])("%j is refused, and nothing is stored", async (wrong, text) => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    await expect(setHandoff({ taskId: id, status: "PASS", summary: "s", ...wrong }, work)).rejects.toThrow(text);
    expect((await listHandoffs({ taskId: id }, work)).total).toBe(0);
  });
});

describe("getHandoff", () => {
  it("is the summary; the details come in pages that join to the whole", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    const details = Array.from({ length: 9000 }, (_, at) => `line ${at} 🎉`).join("\n");
    await setHandoff({ taskId: id, status: "FAIL", summary: "Two red.", filesChanged: ["a.ts"], details }, work);
    const brief = await getHandoff({ taskId: id }, work);
    expect(brief).toMatchObject({
      view: {
        role: "implementer",
        attempt: 1,
        status: "FAIL",
        summary: "Two red.",
        files_changed: ["a.ts"],
        details_chars: details.length,
      },
    });
    expect(brief).not.toHaveProperty("view.full_details");
    let text = "";
    let pages = 0;
    for (let from: number | undefined = 0; from !== undefined; pages++) {
      const page = await getHandoff({ taskId: id, includeDetails: true, from }, work);
      if (page.kind === "none") throw new Error(page.text);
      expect(page.details?.length).toBeLessThanOrEqual(20_000);
      expect(page.details?.isWellFormed()).toBe(true);
      text += page.details;
      from = page.nextFrom;
    }
    expect(text).toBe(details);
    expect(pages).toBeGreaterThan(5);
    await expect(getHandoff({ taskId: id, from: -1 }, work)).rejects.toThrow(
      "from must be a whole number of at least 0",
    );
  });

  it("says that there is none, or which there are", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    expect(await getHandoff({ taskId: id }, work)).toEqual({
      kind: "none",
      text: `${id} has no handoff yet; set_task_handoff stores one.`,
    });
    await setHandoff({ taskId: id, status: "PASS", summary: "s" }, work);
    expect(await getHandoff({ taskId: id, role: "fixer" }, work)).toEqual({
      kind: "none",
      text: `${id} has no handoff of role fixer; it has implementer 1 (PASS).`,
    });
    expect(await getHandoff({ taskId: id, status: "FAIL" }, work)).toMatchObject({
      text: `${id} has no handoff that says FAIL; it has implementer 1 (PASS).`,
    });
    await expect(getHandoff({ taskId: id, status: "BAD" }, work)).rejects.toThrow("status must be one of PASS,");
    await expect(getHandoff({ taskId: "T9" }, work)).rejects.toThrow('there is no task "T9"');
  });

  it("reaches the last FAIL behind a later PASS of another role", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    await setHandoff(
      { taskId: id, status: "FAIL", summary: "no test", role: "quality-reviewer", details: "why" },
      work,
    );
    await setHandoff({ taskId: id, status: "PASS", summary: "fine", role: "spec-reviewer" }, work);
    expect(await getHandoff({ taskId: id }, work)).toMatchObject({ view: { status: "PASS" } });
    expect(await getHandoff({ taskId: id, status: "fail", includeDetails: true }, work)).toMatchObject({
      view: { role: "quality-reviewer", status: "FAIL", full_details: "why" },
    });
  });

  it("says so when a page begins behind the end", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    await setHandoff({ taskId: id, status: "FAIL", summary: "s", details: "short" }, work);
    expect(await getHandoff({ taskId: id, from: 5 }, work)).toMatchObject({
      view: { note: "the details end at character 5" },
    });
  });

  it("gives nothing back of what has gone to the archive, and says how to get it", async () => {
    const work = memoryWork();
    const epic = await createEpic({ title: "E" }, work);
    const story = await createStory({ title: "S", epicId: epic.id }, work);
    const { id } = await createTask({ title: "A", storyId: story.id }, work);
    const stored = await setHandoff({ taskId: id, status: "PASS", summary: "it works", details: "all of it" }, work);
    await setStatus({ taskId: id, status: "done" }, work);
    const archived = await getHandoff({ taskId: id, includeDetails: true }, work);
    expect(archived).toMatchObject({ view: { status: "PASS", note: expect.stringContaining("in the archive; ") } });
    expect(JSON.stringify(archived.kind === "none" || archived.view)).not.toMatch(/it works|all of it/);
    expect(archived).toMatchObject({
      note: expect.stringContaining(`\`haversack handoff restore ${stored.handoff.id}\``),
    });
    await restoreHandoffs({ id }, work);
    await decayHandoffs({ storyId: story.id, isForced: true }, work);
    const compacted = await getHandoff({ taskId: id, from: 0 }, { ...work, for: "person" });
    expect(compacted).toMatchObject({
      view: { summary: "it works", details_chars: 9 },
      note: `the details are in the archive; \`haversack handoff restore ${stored.handoff.id}\` brings it back`,
    });
    expect(compacted).not.toHaveProperty("details");
  });

  it("decays by itself with its story, and comes back", async () => {
    const work = memoryWork();
    const story = await createStory({ title: "S" }, work);
    const { id } = await createTask({ title: "A", storyId: story.id }, work);
    await setHandoff({ taskId: id, status: "PASS", summary: "s", details: "all of it" }, work);
    await setStatus({ taskId: id, status: "done" }, work);
    expect(await getHandoff({ taskId: id }, work)).toMatchObject({ handoff: { state: "compacted" } });
    expect(await decayHandoffs({ storyId: story.id }, work)).toEqual({ compacted: 0, archived: 0 });
    expect(await restoreHandoffs({ id: story.id }, work)).toEqual({ restored: 1 });
    expect(await getHandoff({ taskId: id, includeDetails: true }, work)).toMatchObject({ details: "all of it" });
  });
});
