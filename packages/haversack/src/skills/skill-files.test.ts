import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type FileSystem, diskFileSystem as fs } from "../base/file-system.ts";
import { findSkillFiles, type SkillFileOptions, type SkillRoot } from "./skill-files.ts";
import { listResources, readResource } from "./skill-resources.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "skill-files-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const source = { kind: "project", label: "skills", rank: 0 } as const;
const write = (...paths: string[]) => {
  for (const path of paths) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), `# ${path}\n`);
  }
};
const find = (dir = "skills", more: Partial<SkillRoot> = {}, options: SkillFileOptions = {}) => {
  const { files, problems } = findSkillFiles([{ dir: join(home, dir), source, ...more }], fs, options);
  return {
    paths: files.map(({ path }) => relative(home, path)),
    files,
    problems: problems.map(({ code, file }) => `${code} ${relative(home, file)}`),
  };
};

describe("findSkillFiles", () => {
  it("finds folders with a SKILL.md of any case, and single files, in order", () => {
    write(
      "skills/b/SKILL.md",
      "skills/a/skill.md",
      "skills/c.md",
      "skills/README.md",
      "skills/CHANGELOG.md",
      "skills/notes.txt",
      "skills/a/other.md",
    );
    const { paths, files, problems } = find();
    expect(paths).toEqual(["skills/a/skill.md", "skills/b/SKILL.md", "skills/c.md"]);
    expect(files[0]).toMatchObject({ folder: join(home, "skills/a"), folderName: "a", size: 20, source });
    expect(files[2]).toMatchObject({ folderName: "c" });
    expect(files[2]!.folder).toBeUndefined();
    expect(files[0]!.mtimeMs).toBeGreaterThan(0);
    expect(problems).toEqual([]);
  });

  it("looks four levels deep, not into skills, hidden folders or node_modules", () => {
    write(
      "skills/1/2/3/4/SKILL.md",
      "skills/1/2/3/4x/5/SKILL.md",
      "skills/.git/SKILL.md",
      "skills/node_modules/x/SKILL.md",
      "skills/s/SKILL.md",
      "skills/s/inner/SKILL.md",
      "skills/d/single.md",
    );
    expect(find().paths).toEqual(["skills/1/2/3/4/SKILL.md", "skills/s/SKILL.md"]);
    expect(find("skills", {}, { insideSkills: true, maxDepth: 9 }).paths).toEqual([
      "skills/1/2/3/4/SKILL.md",
      "skills/1/2/3/4x/5/SKILL.md",
      "skills/s/SKILL.md",
      "skills/s/inner/SKILL.md",
    ]);
  });

  it("takes a folder that is itself a skill", () => {
    write("skills/SKILL.md", "skills/references/x.md");
    expect(find().files).toMatchObject([{ folder: join(home, "skills"), folderName: "skills" }]);
  });

  it("passes the plugin on", () => {
    write("skills/a/SKILL.md");
    expect(find("skills", { plugin: "tools" }).files).toMatchObject([{ plugin: "tools" }]);
  });

  it("is silent about a missing source, unless the user named it", () => {
    expect(find("nowhere")).toMatchObject({ paths: [], problems: [] });
    expect(find("nowhere", { isNamed: true }).problems).toEqual(["source-missing nowhere"]);
    write("file.md");
    expect(find("file.md").problems).toEqual(["source-not-a-folder file.md"]);
  });

  it("follows links inside the source and refuses those that lead out", () => {
    write("skills/a/SKILL.md", "outside/b/SKILL.md", "secret.md");
    symlinkSync(join(home, "outside/b"), join(home, "skills/b"));
    symlinkSync(join(home, "secret.md"), join(home, "skills/secret.md"));
    mkdirSync(join(home, "skills/c"));
    symlinkSync(join(home, "secret.md"), join(home, "skills/c/SKILL.md"));
    symlinkSync(join(home, "nowhere"), join(home, "skills/d"));
    const { paths, problems } = find();
    expect(paths).toEqual(["skills/a/SKILL.md"]);
    expect(problems).toEqual([
      "link-leads-out skills/b",
      "link-leads-out skills/c/SKILL.md",
      "link-broken skills/d",
      "link-leads-out skills/secret.md",
    ]);
  });

  it("follows a source that is a link, and survives circles", () => {
    write("real/a/SKILL.md");
    symlinkSync(join(home, "real"), join(home, "skills"));
    symlinkSync(join(home, "real"), join(home, "real/again"));
    expect(find()).toMatchObject({ paths: ["skills/a/SKILL.md"], problems: [] });
  });

  describe("links in a folder of the user's own", () => {
    const user = { source: { ...source, kind: "user" as const } };

    it("are followed wherever they lead: folders, collections and single files", () => {
      write("dotfiles/b/SKILL.md", "team/x/SKILL.md", "team/y/SKILL.md", "one.md", "text.md");
      mkdirSync(join(home, "skills/c"), { recursive: true });
      symlinkSync(join(home, "dotfiles/b"), join(home, "skills/b"));
      symlinkSync(join(home, "team"), join(home, "skills/team"));
      symlinkSync(join(home, "one.md"), join(home, "skills/one.md"));
      symlinkSync(join(home, "text.md"), join(home, "skills/c/SKILL.md"));
      const { paths, problems } = find("skills", user);
      expect(paths).toEqual([
        "skills/b/SKILL.md",
        "skills/c/SKILL.md",
        "skills/one.md",
        "skills/team/x/SKILL.md",
        "skills/team/y/SKILL.md",
      ]);
      expect(problems).toEqual([]);
    });

    it("are not followed in a folder that such a link leads to, nor in circles", () => {
      write("team/x/SKILL.md", "secret/SKILL.md", "skills/a/SKILL.md");
      symlinkSync(join(home, "secret"), join(home, "team/leak"));
      symlinkSync(join(home, "team"), join(home, "skills/team"));
      symlinkSync(join(home, "skills"), join(home, "team/back"));
      symlinkSync(home, join(home, "skills/up"));
      const { paths, problems } = find("skills", user);
      expect(paths).toEqual(["skills/a/SKILL.md", "skills/team/x/SKILL.md"]);
      expect(problems).toEqual(["link-leads-out skills/team/leak", "link-circle skills/up"]);
    });

    it("are refused when they lead to what another user owns", () => {
      write("other/SKILL.md", "skills/a/SKILL.md");
      symlinkSync(join(home, "other"), join(home, "skills/b"));
      const foreign: FileSystem = {
        ...fs,
        stat: (path) => ({ ...fs.stat(path), ...(path.endsWith("/other") && { isForeign: true }) }),
      };
      const { files, problems } = findSkillFiles([{ dir: join(home, "skills"), ...user }], foreign);
      expect(files).toHaveLength(1);
      expect(problems.map(({ code }) => code)).toEqual(["link-foreign"]);
    });
  });

  describe("links in a project", () => {
    const within = () => ({ within: home });

    it("are followed inside of the project, and reported when they leave it", () => {
      const outside = mkdtempSync(join(tmpdir(), "haversack-outside-"));
      onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
      writeFileSync(join(outside, "SKILL.md"), "x");
      write("shared/b/SKILL.md", "skills/a/SKILL.md");
      symlinkSync(join(home, "shared/b"), join(home, "skills/b"));
      symlinkSync(outside, join(home, "skills/c"));
      symlinkSync(home, join(home, "skills/up"));
      const { paths, problems } = find("skills", within());
      expect(paths).toEqual(["skills/a/SKILL.md", "skills/b/SKILL.md"]);
      expect(problems).toEqual(["link-leads-out skills/c", "link-circle skills/up"]);
      symlinkSync(outside, join(home, "linked"));
      expect(find("linked", within())).toMatchObject({ paths: [], problems: ["link-leads-out linked"] });
    });
  });

  it("reads a folder once, though two sources name it", () => {
    write("skills/a/SKILL.md");
    const root = { dir: join(home, "skills"), source };
    expect(findSkillFiles([root, root], fs).files).toHaveLength(1);
  });

  it("stops at the cap and says so", () => {
    for (let n = 0; n < 5; n++) write(`skills/s${n}/SKILL.md`);
    const { paths, problems } = find("skills", {}, { maxSkills: 3 });
    expect(paths).toHaveLength(3);
    expect(problems).toEqual(["source-too-large skills"]);
  });

  it("goes on after a folder that cannot be read", () => {
    write("skills/a/SKILL.md", "skills/b/SKILL.md");
    const broken = { ...fs, readDir: (path: string) => (path.endsWith("a") ? fail("EACCES: no") : fs.readDir(path)) };
    const { files, problems } = findSkillFiles([{ dir: join(home, "skills"), source }], broken);
    expect(files).toHaveLength(1);
    expect(problems).toMatchObject([{ level: "error", code: "folder-unreadable", text: "EACCES: no" }]);
  });
});

describe("listResources", () => {
  it("lists the known folders, sorted, and nothing else", () => {
    write(
      "s/SKILL.md",
      "s/references/b.md",
      "s/references/deep/a.md",
      "s/scripts/run.py",
      "s/assets/.hidden",
      "s/assets/x.png",
      "s/reference/r.md",
      "s/quick-reference.md",
      "s/other/y.md",
    );
    expect(listResources(join(home, "s"), fs)).toEqual({
      names: [
        "assets/x.png",
        "quick-reference.md",
        "reference/r.md",
        "references/b.md",
        "references/deep/a.md",
        "scripts/run.py",
      ],
      total: 6,
      problems: [],
    });
  });

  it("caps the list and counts the rest", () => {
    for (let n = 0; n < 12; n++) write(`s/assets/${String(n).padStart(2, "0")}.txt`);
    const { names, total } = listResources(join(home, "s"), fs, { limit: 10 });
    expect([names.length, total, names[0]]).toEqual([10, 12, "assets/00.txt"]);
  });

  it("refuses links that lead out", () => {
    write("s/assets/a.txt", "secret/key.txt");
    symlinkSync(join(home, "secret"), join(home, "s/scripts"));
    symlinkSync(join(home, "secret/key.txt"), join(home, "s/assets/key.txt"));
    const { names, problems } = listResources(join(home, "s"), fs);
    expect(names).toEqual(["assets/a.txt"]);
    expect(problems.map(({ code }) => code)).toEqual(["link-leads-out", "link-leads-out"]);
  });

  it("lists a folder that links to itself once", () => {
    write("s/assets/a.txt");
    symlinkSync(join(home, "s/assets"), join(home, "s/assets/again"));
    expect(listResources(join(home, "s"), fs)).toMatchObject({ names: ["assets/a.txt"], problems: [] });
  });

  it("says when the folder is gone", () => {
    expect(listResources(join(home, "gone"), fs)).toMatchObject({
      names: [],
      problems: [{ code: "folder-unreadable" }],
    });
  });
});

describe("readResource", () => {
  it("reads a file of the skill", () => {
    write("s/references/a.md");
    expect(readResource(join(home, "s"), "references/a.md", fs)).toEqual({
      kind: "text",
      text: "# s/references/a.md\n",
    });
    expect(readResource(join(home, "s"), "./references\\a.md", fs).kind).toBe("text");
    expect(readResource(join(home, "s"), "references", fs).kind).toBe("missing");
    expect(readResource(join(home, "s"), "references/b.md", fs)).toEqual({
      kind: "missing",
      text: "there is no references/b.md in the skill's folder",
    });
  });

  it.each([
    "../secret.md",
    "references/../../secret.md",
    "/etc/passwd",
    "C:\\x",
    "..\\secret.md",
    "",
    "a\u0000b",
    ".env",
    "references/.git/config",
    "link.md",
    "linked/secret.md",
  ])("refuses %j", (path) => {
    write("s/references/a.md", "secret.md", "s/.env");
    symlinkSync(join(home, "secret.md"), join(home, "s/link.md"));
    symlinkSync(home, join(home, "s/linked"));
    expect(readResource(join(home, "s"), path, fs).kind).toBe("refused");
  });

  it("cuts large files and names binary ones", () => {
    write("s/big.txt", "s/b.bin");
    writeFileSync(join(home, "s/big.txt"), "x".repeat(300_000));
    writeFileSync(join(home, "s/b.bin"), Buffer.from([1, 0, 2]));
    expect(readResource(join(home, "s"), "big.txt", fs)).toMatchObject({ kind: "text", cutFrom: 300_000 });
    expect(readResource(join(home, "s"), "b.bin", fs).kind).toBe("binary");
  });
});

function fail(text: string): never {
  throw new Error(text);
}
