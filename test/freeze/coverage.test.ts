/** Checks the suite itself: it uses every recorded event, has no unused golden files, and can fail. */
import "./as-built.ts";
import { expect, it } from "vitest";
import { asKept, goldenNames, isUpdate, readGolden } from "./golden.ts";
import { CLIENTS, recordedNames } from "./recorded.ts";
import { play } from "./scenario.ts";
import { scenariosOf } from "./scenarios/all.ts";

it.each(CLIENTS)("every recorded event of %s is played", (client) => {
  const played = scenariosOf(client).flatMap(({ steps }) =>
    steps.flatMap((step) => ("recorded" in step ? [step.recorded] : [])),
  );
  // Add a new file in test/fixtures to scenarios/recorded-events.ts.
  expect([...new Set(played)].sort()).toEqual(recordedNames(client));
});

it.skipIf(isUpdate).each(CLIENTS)(
  "every scenario of %s has a golden file, and every golden file a scenario",
  (client) => {
    // The read-only store needs a user without write access.
    const kept = goldenNames(client).filter((name) => name !== "read-only");
    const names = scenariosOf(client).map(({ name }) => name);
    expect(names.filter((name) => name !== "read-only").sort()).toEqual(kept.sort());
  },
);

it.skipIf(isUpdate)("an answer, a row or an exit code that differs is seen", async () => {
  const scenario = scenariosOf("claude-code").find(({ name }) => name === "guard-denies")!;
  const played = asKept(await play("claude-code", scenario));
  const golden = readGolden("claude-code", "guard-denies")!;
  expect(played).toEqual(golden);
  const text = JSON.stringify(golden);
  for (const [from, to] of [
    ["Migrations have rules here.", "Migrations have no rules here."],
    ['"window":1', '"window":2'],
    ['"permissionDecision":"deny"', '"permissionDecision":"allow"'],
  ] as const) {
    expect(text).toContain(from);
    expect(played).not.toEqual(JSON.parse(text.replace(from, to)));
  }
  const last = golden.steps.at(-1)!;
  expect(played).not.toEqual({ ...golden, steps: [...golden.steps.slice(0, -1), { ...last, exit: 1 }] });
  expect(played).not.toEqual({ ...golden, steps: golden.steps.slice(0, -1) });
});
