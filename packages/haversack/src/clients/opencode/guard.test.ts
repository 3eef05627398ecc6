import { expect, it } from "vitest";
import { Guard, Refusal } from "./guard.ts";

it("stops after three calls that took too long", () => {
  let now = 0;
  const lines: string[] = [];
  const guard = new Guard({ log: (_, line) => void lines.push(line), now: () => now });
  const slow = () => {
    now += 300;
    return "answer";
  };
  expect([1, 2, 3, 4].map(() => guard.call("prompt", slow))).toEqual(["answer", "answer", "answer", undefined]);
  expect(lines).toHaveLength(3);
});

it("lets a refusal through and nothing else, even when the log fails", async () => {
  const guard = new Guard({
    log: () => {
      throw new Error("disk full");
    },
  });
  await expect(guard.hook("x", async () => Promise.reject(new Refusal("no")))()).rejects.toThrow("no");
  await expect(guard.hook("x", async () => Promise.reject(new Error("bug")))()).resolves.toBeUndefined();
});
