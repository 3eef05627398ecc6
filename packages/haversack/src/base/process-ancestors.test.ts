import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { processAncestors } from "./process-space.ts";

it("lists the parent first, and finds it through a shell and a script between", () => {
  expect(processAncestors()[0]).toBe(process.ppid);
  const script = `import(${JSON.stringify(import.meta.resolve("./process-space.ts"))}).then((m) => console.log(JSON.stringify(m.processAncestors())))`;
  const { stdout, stderr } = spawnSync("sh", ["-c", '"$0" -e "$1"; true', process.execPath, script], {
    encoding: "utf8",
  });
  expect(stderr).not.toContain("Error");
  const above = JSON.parse(stdout) as number[];
  expect(above.indexOf(process.pid)).toBe(1);
});
