import { describe, expect, it } from "vitest";
import { memoryWork, NOW } from "./memory-work.suite.ts";
import { getWip, updateWip } from "./set-status.ts";
import { createTask } from "./tasks.ts";

describe("updateWip", () => {
  it("merges deeply, keeps unknown fields, and remembers what was replaced", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    await updateWip({ taskId: id, wip: { phase: "coding", files_modified: ["a.ts"], mine: { x: 1 } } }, work);
    const second = await updateWip(
      { taskId: id, wip: '{"phase":"testing","files_modified":["b.ts"],"mine":{"y":2}}' },
      work,
    );
    expect(second.changed).toBe(true);
    expect((await updateWip({ taskId: id, wip: { phase: "testing" } }, work)).changed).toBe(false);
    const { wip, updatedAt, history } = await getWip({ taskId: id, history: 5 }, work);
    expect(wip).toMatchObject({ phase: "testing", files_modified: ["a.ts", "b.ts"], mine: { x: 1, y: 2 } });
    expect(updatedAt).toEqual(NOW);
    expect(history).toMatchObject([{ path: "phase", before: "coding", after: "testing", actor: "ann" }]);
  });

  it.each([
    [[1], "wip_data must be an object"],
    ["nothing", "wip_data must be JSON"],
    [null, "wip_data must be an object"],
  ])("%j is refused", async (wip, text) => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    await expect(async () => updateWip({ taskId: id, wip }, work)).rejects.toThrow(text);
    expect((await getWip({ taskId: id }, work)).wip).toEqual({});
  });
});
