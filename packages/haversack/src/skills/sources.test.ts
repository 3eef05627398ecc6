import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../base/file-system.ts";
import { pluginFiles, type SourcePlaces, type SourceTexts, skillRoots } from "./sources.ts";

const places: SourcePlaces = { projectDir: "/work/app", homeDir: "/home/me" };
/** Serves only manifests. */
const disk = (files: Record<string, string> = {}): FileSystem => ({
  readFile: (path) => files[path] ?? missing(),
  readDir: missing,
  stat: missing,
  realpath: missing,
});
const PLUGINS = "/home/me/.claude/plugins/installed_plugins.json";
const roots = (texts: SourceTexts = {}, files: Record<string, string> = {}, more: Partial<SourcePlaces> = {}) =>
  skillRoots({ ...places, ...more }, texts, disk(files));
const installed = (plugins: unknown) => ({ file: PLUGINS, text: JSON.stringify({ version: 2, plugins }) });
const settings = (...enabled: Record<string, unknown>[]) =>
  enabled.map((enabledPlugins, index) => ({
    file: `/settings-${index}.json`,
    text: JSON.stringify({ enabledPlugins }),
  }));
const pluginDirs = (texts: SourceTexts, files: Record<string, string> = {}, more: Partial<SourcePlaces> = {}) =>
  roots(texts, files, more)
    .roots.filter(({ plugin }) => plugin)
    .map(({ dir, plugin }) => `${plugin} ${dir}`);

describe("skillRoots", () => {
  it("goes from the project to the user, nearest first", () => {
    const { roots: found, problems } = roots();
    expect(found.map(({ dir, source }) => [dir, source.kind, source.label, source.rank])).toEqual([
      ["/work/app/.haversack/skills", "project", ".haversack/skills", 0],
      ["/work/app/.claude/skills", "project", ".claude/skills", 1],
      ["/work/app/.agents/skills", "project", ".agents/skills", 2],
      ["/work/app/.gemini/skills", "project", ".gemini/skills", 3],
      ["/work/app/.codex/skills", "project", ".codex/skills", 4],
      ["/work/app/.opencode/skills", "project", ".opencode/skills", 5],
      ["/work/app/.opencode/skill", "project", ".opencode/skill", 6],
      ["/home/me/.claude/skills", "user", "~/.claude/skills", 7],
      ["/home/me/.agents/skills", "user", "~/.agents/skills", 8],
      ["/home/me/.config/haversack/skills", "user", "~/.config/haversack/skills", 9],
      ["/home/me/.gemini/skills", "user", "~/.gemini/skills", 10],
      ["/home/me/.codex/skills", "user", "~/.codex/skills", 11],
      ["/home/me/.config/opencode/skills", "user", "~/.config/opencode/skills", 12],
      ["/home/me/.config/opencode/skill", "user", "~/.config/opencode/skill", 13],
      ["/home/me/.opencode/skills", "user", "~/.opencode/skills", 14],
      ["/home/me/.opencode/skill", "user", "~/.opencode/skill", 15],
    ]);
    expect(problems).toEqual([]);
  });

  it("takes the client's and the system's own places", () => {
    const { roots: found } = roots(
      {},
      {},
      { claudeConfigDir: "~/cc", configHome: "/etc/me", geminiHome: "/srv/g", codexHome: "/srv/codex" },
    );
    expect(found.map(({ dir }) => dir)).toEqual(
      expect.arrayContaining([
        ...[
          "/home/me/cc/skills",
          "/etc/me/haversack/skills",
          "/etc/me/opencode/skills",
          "/srv/g/.gemini/skills",
          "/srv/codex/skills",
        ],
      ]),
    );
  });

  it("adds the folders of the settings, wherever they are", () => {
    const { roots: found } = roots({ folders: ["team/skills", "~/shared", "/opt/skills/", " "] });
    expect(found.slice(16)).toEqual([
      { dir: "/work/app/team/skills", isNamed: true, source: { kind: "folder", label: "team/skills", rank: 16 } },
      { dir: "/home/me/shared", isNamed: true, source: { kind: "folder", label: "~/shared", rank: 17 } },
      { dir: "/opt/skills", isNamed: true, source: { kind: "folder", label: "/opt/skills/", rank: 18 } },
    ]);
  });

  it("names a place once, as the nearest", () => {
    const { roots: found } = roots({ folders: ["~/.claude/skills"] }, {}, { projectDir: "/home/me" });
    expect(found.filter(({ dir }) => dir === "/home/me/.claude/skills").map(({ source }) => source.kind)).toEqual([
      "project",
    ]);
  });

  it("works without a project", () => {
    const { projectDir: _, ...outside } = places;
    expect(skillRoots(outside, {}, disk()).roots.map(({ source }) => source.kind)).toEqual(Array(9).fill("user"));
    expect(pluginFiles(outside).settings).toEqual(["/home/me/.claude/settings.json"]);
  });
});

describe("plugins", () => {
  const tools = [{ scope: "user", installPath: "/cache/tools/1.2.0", version: "1.2.0" }];

  it("takes what is installed and enabled, only that version", () => {
    const texts = {
      installedPlugins: installed({ "tools@market": tools, "off@market": tools, "unset@market": tools }),
      settings: settings({ "tools@market": true, "off@market": false }),
    };
    expect(pluginDirs(texts)).toEqual(["tools /cache/tools/1.2.0/skills"]);
    expect(roots(texts).roots.at(-1)).toEqual({
      dir: "/cache/tools/1.2.0/skills",
      plugin: "tools",
      source: { kind: "plugin", label: "plugin tools", rank: 16 },
    });
  });

  it("lets the nearer settings decide", () => {
    const installedPlugins = installed({ "tools@market": tools });
    expect(
      pluginDirs({ installedPlugins, settings: settings({ "tools@market": true }, { "tools@market": false }) }),
    ).toEqual([]);
    expect(
      pluginDirs({ installedPlugins, settings: settings({ "tools@market": false }, {}, { "tools@market": ["^1.0"] }) }),
    ).toHaveLength(1);
    expect(pluginDirs({ installedPlugins })).toEqual([]);
  });

  it("prefers the install of this project, and ignores those of others", () => {
    const entries = [
      { scope: "user", installPath: "/cache/user", lastUpdated: "2026-01-02" },
      { scope: "project", projectPath: "/work/app", installPath: "/cache/app", lastUpdated: "2026-01-01" },
      { scope: "project", projectPath: "/work/other", installPath: "/cache/other", lastUpdated: "2026-03-01" },
    ];
    const texts = {
      installedPlugins: installed({ "tools@market": entries }),
      settings: settings({ "tools@market": true }),
    };
    expect(pluginDirs(texts)).toEqual(["tools /cache/app/skills"]);
    expect(pluginDirs(texts, {}, { projectDir: "/work/app/packages/x" })).toEqual(["tools /cache/app/skills"]);
    expect(pluginDirs(texts, {}, { projectDir: "/work/apple" })).toEqual(["tools /cache/user/skills"]);
  });

  it("takes the latest of equals, and the older form of the file", () => {
    const two = [
      { installPath: "/cache/1", lastUpdated: "2026-01-01T00:00:00Z" },
      { installPath: "/cache/2", lastUpdated: "2026-02-01T00:00:00Z" },
    ];
    const on = settings({ "tools@market": true });
    expect(pluginDirs({ installedPlugins: installed({ "tools@market": two }), settings: on })).toEqual([
      "tools /cache/2/skills",
    ]);
    expect(pluginDirs({ installedPlugins: installed({ "tools@market": two[0] }), settings: on })).toEqual([
      "tools /cache/1/skills",
    ]);
  });

  it("adds the folders of the manifest, inside the plugin only", () => {
    const texts = {
      installedPlugins: installed({ "tools@market": tools }),
      settings: settings({ "tools@market": true }),
    };
    const manifest = (skills: unknown) => ({
      "/cache/tools/1.2.0/.claude-plugin/plugin.json": JSON.stringify({ name: "tools", skills }),
    });
    expect(pluginDirs(texts, manifest("./more"))).toEqual([
      "tools /cache/tools/1.2.0/skills",
      "tools /cache/tools/1.2.0/more",
    ]);
    expect(pluginDirs(texts, manifest(["./a", "../../../etc", 7]))).toEqual([
      "tools /cache/tools/1.2.0/skills",
      "tools /cache/tools/1.2.0/a",
    ]);
    expect(roots(texts, manifest("/etc")).problems).toMatchObject([{ code: "plugins-unreadable", where: "skills" }]);
  });

  it("names what it cannot read and goes on", () => {
    const on = settings({ "tools@market": true, "a/b:c@market": true, "rel@market": true });
    const broken = [{ file: "/bad.json", text: "{" }, ...on];
    const { roots: found, problems } = roots({
      installedPlugins: installed({
        "tools@market": tools,
        "a/b:c@market": tools,
        "rel@market": [{ installPath: "cache/x" }],
      }),
      settings: broken,
    });
    expect(found.filter(({ plugin }) => plugin)).toHaveLength(1);
    expect(problems.map(({ file, where }) => [file, where])).toEqual([
      ["/bad.json", undefined],
      [PLUGINS, "plugins.a/b:c@market"],
      [PLUGINS, "plugins.rel@market"],
    ]);
    expect(roots({ installedPlugins: { file: PLUGINS, text: "[]" } }).problems).toHaveLength(1);
    expect(roots({ installedPlugins: { file: PLUGINS, text: '{"plugins": []}' } }).problems).toHaveLength(1);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (plugins, enabled) => {
        roots({
          installedPlugins: installed(plugins),
          settings: [{ file: "/s.json", text: JSON.stringify({ enabledPlugins: enabled }) }],
        });
        roots(
          { installedPlugins: installed({ "a@b": plugins }), settings: settings({ "a@b": true }) },
          { "/x/.claude-plugin/plugin.json": JSON.stringify(enabled) },
        );
      }),
    );
  });
});

function missing(): never {
  throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
}
