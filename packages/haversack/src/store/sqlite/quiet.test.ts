import { afterEach, expect, it, vi } from "vitest";

afterEach(() => vi.restoreAllMocks());

it("drops the warning of node:sqlite while it loads, and no other", async () => {
  const load = process.getBuiltinModule;
  const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  vi.spyOn(process, "getBuiltinModule").mockImplementation(((id: string) => {
    process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
    process.emitWarning("something else", "ExperimentalWarning");
    return load(id);
  }) as typeof load);
  const { sqlite } = await import("./quiet.ts");
  process.emitWarning("SQLite is an experimental feature: but said later, by someone else");

  expect(sqlite.DatabaseSync).toBeDefined();
  expect(emit.mock.calls.map(([text]) => text)).toEqual([
    "something else",
    "SQLite is an experimental feature: but said later, by someone else",
  ]);
});
