/** Which plugin is active in a session: the project's file, the user's file or the package. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { isPackageNamed, pluginFileText, workingPluginFile } from "./places.ts";

function scene() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-which-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "repo");
  const env = { HOME: join(base, "home") };
  mkdirSync(join(root, ".git"), { recursive: true });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const installed = { node: process.execPath, hook: join(base, "hook.cjs"), bin: join(base, "haversack.cjs") };
  write(join(base, "opencode-plugin.mjs"), "");
  return { base, root, env, write, text: pluginFileText(installed) };
}

it("the project's file, from folders below too, else the user's; one that names a package that is gone does not count", () => {
  const { root, env, write, text } = scene();
  const which = (directory = root) => workingPluginFile({ directory, env });
  expect(which()).toBeUndefined();
  const user = write(join(env.HOME, ".config/opencode/plugin/haversack.js"), text);
  expect(which()).toBe(user);
  const project = write(join(root, ".opencode/plugin/haversack.js"), text);
  mkdirSync(join(root, "src/deep"), { recursive: true });
  expect(which(join(root, "src/deep"))).toBe(project);
  // A nested repository is another project.
  mkdirSync(join(root, "src/.git"));
  expect(which(join(root, "src/deep"))).toBe(user);
  writeFileSync(project, text.replace("opencode-plugin.mjs", "gone.mjs"));
  expect(which()).toBe(user);
});

it("finds the package in settings with comments, by a path that is relative to them", () => {
  const { root, env, write } = scene();
  expect(isPackageNamed({ root, env })).toBe(false);
  write(join(root, "tools/ours/package.json"), '{"name": "haversack-opencode"}');
  const settings = write(join(root, "opencode.jsonc"), '{\n  // mine\n  "plugin": ["other", "./tools/ours",],\n}\n');
  expect(isPackageNamed({ root, env })).toBe(true);
  writeFileSync(settings, JSON.stringify({ plugin: [pathToFileURL(join(root, "tools/ours")).href] }));
  expect(isPackageNamed({ root, env })).toBe(true);
  writeFileSync(settings, '{"plugin": ["./tools"]}');
  expect(isPackageNamed({ root, env })).toBe(false);
});

it.skipIf(process.platform === "win32")("reads no device that a repository links to in place of its settings", () => {
  const { root, env } = scene();
  for (const path of [".opencode/plugin/haversack.js", "opencode.json", ".opencode/opencode.jsonc"]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync("/dev/zero", join(root, path));
  }
  expect(workingPluginFile({ directory: root, env })).toBeUndefined();
  expect(isPackageNamed({ root, env })).toBe(false);
});
