import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ensureStateFolder, noProject, notAProject, projectPaths } from "./project.ts";

let base: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-no-project-")));
  for (const folder of ["repo/.git", "repo/src", "marked/.haversack", "marked/a/b", "plain", "home/.git"])
    mkdirSync(join(base, folder), { recursive: true });
  symlinkSync(join(base, "home"), join(base, "link-to-home"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const at = (folder: string, home = join(base, "home")) => projectPaths(join(base, folder), { HOME: home });

it("may be made at the top of a repository, and is there where somebody has made it", () => {
  expect(noProject(at("repo/src"))).toBeUndefined();
  expect(noProject(at("marked/a/b"))).toBeUndefined();
  expect(noProject(at("plain"))?.remedy).toContain("haversack init");
  expect(noProject(projectPaths(join(base, "repo"), {}))).toBeUndefined();
});

it("never in the home folder, a repository or not, under whatever name", () => {
  for (const home of ["home", "link-to-home"]) {
    expect(noProject(at("home", join(base, home)))?.why).toBe(`${base}/home is your home folder, not a project`);
  }
});

it("never in the root of the disk", () => {
  expect(notAProject({ ...at("plain"), root: "/" })).toBe("the root of the disk");
  const state = join(base, "nothing/.haversack");
  expect(noProject({ ...at("repo"), root: "/", state })?.why).toBe("/ is the root of the disk, not a project");
});

it("a folder that is asked for is made anywhere", () => {
  const paths = at("plain");
  expect(() => ensureStateFolder(paths)).toThrow("there is no project in");
  ensureStateFolder(paths, { isAsked: true });
  expect(noProject(at("plain"))).toBeUndefined();
});
