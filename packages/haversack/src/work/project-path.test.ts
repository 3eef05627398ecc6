import { expect, it } from "vitest";
import { isOutside, projectPath } from "./project-path.ts";

it.each([
  ["/repo/src/a.ts", { root: "/repo" }, "src/a.ts"],
  ["/repo/./src/../a.ts", { root: "/repo/" }, "a.ts"],
  ["a.ts", { root: "/repo", cwd: "/repo/web" }, "web/a.ts"],
  ["../a.ts", { root: "/repo", cwd: "/repo/web" }, "a.ts"],
  [".", { root: "/repo", cwd: "/repo" }, ""],
  ["/repository/a.ts", { root: "/repo" }, "/repository/a.ts"],
  ["C:\\repo\\src\\a.ts", { root: "C:\\repo" }, "src/a.ts"],
  ["src/a.ts", {}, "src/a.ts"],
  ["../a.ts", {}, "../a.ts"],
  ["/a.ts", {}, "/a.ts"],
  ["https://me:hunter2@host.dev/a.ts", {}, "https:/me:[masked:password]@host.dev/a.ts"],
])("%s in %j is %j", (path, place, expected) => expect(projectPath(path, place)).toBe(expected));

it("knows what lies outside", () => {
  expect(["/a", "C:/a", "../a"].every(isOutside)).toBe(true);
  expect(["a", "src/../a", "..a"].some(isOutside)).toBe(false);
});
