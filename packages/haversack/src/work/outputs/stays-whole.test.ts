import { expect, it } from "vitest";
import { asksHaversack, showsSource } from "./stays-whole.ts";

it.each([
  "cat src/a.ts",
  "cd web && sed -n '1,200p' src/a.ts",
  "git diff HEAD~1",
  "git show HEAD:src/a.ts",
  "sudo cat /etc/x",
  "bash -c 'cat a.ts'",
])("shows source: %s", (command) => expect(showsSource(command)).toBe(true));

it.each([
  "npm test",
  "cargo build 2>&1 | tail -50",
  "git log --stat",
  "cat > a.ts <<'E'\nx\nE",
  "docker logs app",
  "grep -rn cat src",
])("is a command: %s", (command) => expect(showsSource(command)).toBe(false));

it("recognizes our own commands", () => {
  expect(asksHaversack("haversack recall K123456 --lines 1-20")).toBe(true);
  expect(asksHaversack("cd x && npx haversack task list")).toBe(true);
  expect(asksHaversack("node /opt/dist/haversack.cjs recall K1")).toBe(true);
  expect(asksHaversack("cat haversack.md")).toBe(false);
  expect(asksHaversack("npm test -- haversack")).toBe(false);
});
