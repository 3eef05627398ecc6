import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  copyToNew,
  makeFolder,
  makeNewFolder,
  makePrivate,
  makeScratch,
  moveFile,
  openToAppend,
  placeAmong,
  putFile,
  putNewFile,
  removeEmptyFolder,
  removeFile,
  removeScratch,
  USER,
} from "./safe-write.ts";

let root: string;
let outside: string;

beforeEach(() => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-test-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  root = join(base, "project");
  outside = join(base, "outside");
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, "file"), "mine");
});

/** Every function that changes something, called with a path that may lead elsewhere. */
const CHANGES: Record<string, (path: string) => unknown> = {
  putFile: (path) => putFile(path, "x", { within: root }),
  putNewFile: (path) => putNewFile(path, "x", { within: root }),
  openToAppend: (path) => openToAppend(path, { within: root }),
  makeFolder: (path) => makeFolder(`${path}/more`, { within: root }),
  makeNewFolder: (path) => makeNewFolder(path, { within: root }),
};
const NAMES: Record<string, (path: string) => unknown> = {
  removeFile: (path) => removeFile(path, { within: root }),
  removeEmptyFolder: (path) => removeEmptyFolder(path, { within: root }),
  "moveFile from": (path) => moveFile(path, join(root, "to"), { within: root }),
  "moveFile to": (path) => moveFile(join(root, "from"), path, { within: root }),
  copyToNew: (path) => copyToNew(join(root, "from"), path, { within: root }),
};

const snapshot = () =>
  readdirSync(outside, { recursive: true, withFileTypes: true }).map((entry) =>
    entry.isFile() ? [entry.name, readFileSync(join(entry.parentPath, entry.name), "utf8")] : [entry.name],
  );

describe("within a project", () => {
  it.each(Object.keys(CHANGES))("%s refuses a link to a file, a folder and nothing", (name) => {
    const before = snapshot();
    for (const target of ["file", "", "missing"]) {
      const link = join(root, "link");
      symlinkSync(join(outside, target), link);
      expect(() => CHANGES[name]?.(link)).toThrow(/nothing was written, because (?:it|\S*link) is a symbolic link/);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      rmSync(link);
    }
    expect(snapshot()).toEqual(before);
  });

  it.each(Object.entries({ ...CHANGES, ...NAMES }))(
    "%s refuses a link in the middle of the path, and what is outside",
    (_name, change) => {
      writeFileSync(join(root, "from"), "from");
      mkdirSync(join(outside, "empty"));
      const before = snapshot();
      symlinkSync(outside, join(root, "middle"));
      for (const path of ["middle/file", "middle/empty", "middle/missing"]) {
        expect(() => change(join(root, path))).toThrow(/middle is a symbolic link/);
      }
      for (const path of [join(outside, "file"), `${root}/../outside/file`, `${root}-twin/file`]) {
        expect(() => change(path)).toThrow("it is not inside");
      }
      expect(snapshot()).toEqual(before);
    },
  );

  it("removes and renames a link itself, never what it leads to", () => {
    symlinkSync(join(outside, "file"), join(root, "one"));
    symlinkSync(join(outside, "file"), join(root, "two"));
    expect(removeFile(join(root, "one"), { within: root })).toBe(true);
    writeFileSync(join(root, "from"), "from");
    moveFile(join(root, "from"), join(root, "two"), { within: root });
    expect(readFileSync(join(root, "two"), "utf8")).toBe("from");
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("mine");
  });

  it("does not mind links above the project", () => {
    const alias = join(outside, "alias");
    symlinkSync(root, alias);
    putFile(join(alias, "a"), "x", { within: alias });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("x");
  });
});

describe("a file of the user's own", () => {
  it("is replaced where the user's links lead, and the links stay", () => {
    const [real, link] = [join(outside, "file"), join(root, "settings.json")];
    chmodSync(real, 0o640);
    symlinkSync("../outside", join(root, "dotfiles"));
    symlinkSync("dotfiles/file", link);
    putFile(link, "new", { within: USER });
    expect(readFileSync(real, "utf8")).toBe("new");
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readdirSync(outside)).toEqual(["file"]);
    putFile(join(root, "dotfiles/second"), "x", { within: USER });
    expect(readFileSync(join(outside, "second"), "utf8")).toBe("x");
  });

  it("is refused where the link leads nowhere or in a circle", () => {
    symlinkSync(join(outside, "gone"), join(root, "dead"));
    expect(() => putFile(join(root, "dead"), "x", { within: USER })).toThrow(
      /dead is a symbolic link to something that/,
    );
    expect(existsSync(join(outside, "gone"))).toBe(false);
    symlinkSync("round", join(root, "round"));
    expect(() => putFile(join(root, "round"), "x", { within: USER })).toThrow("leads in a circle");
  });

  it.skipIf(process.getuid?.() !== 0)("is refused behind another user's link (only root can make one)", async () => {
    const { lchownSync } = await import("node:fs");
    const link = join(root, "link");
    symlinkSync(join(outside, "file"), link);
    lchownSync(link, 12345, 12345);
    expect(() => putFile(link, "x", { within: USER })).toThrow("a symbolic link of another user");
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("mine");
  });

  it("is never a device or a folder", () => {
    expect(() => putFile("/dev/null", "x", { within: USER })).toThrow(
      "/dev/null: nothing was written, because it is not a regular file",
    );
    expect(() => putFile(root, "x", { within: USER })).toThrow("it is not a regular file");
    expect(() => openToAppend("/dev/null", { within: USER })).toThrow("it is not a regular file");
  });
});

describe("writing", () => {
  it("makes a new file with the mode given, keeps the mode of an old one, and leaves no other file", () => {
    const file = join(root, "a");
    putFile(file, "1", { within: root, mode: 0o600 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    putFile(file, "2", { within: root, mode: 0o644 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(root)).toEqual(["a"]);
  });

  it("says which file cannot be written", () => {
    expect(() => putFile(join(root, "none/x"), "x", { within: root })).toThrow(/none\/x: cannot be written \(ENOENT\)/);
  });

  it("makes a new file once, whole or empty", () => {
    for (const text of ["text", ""]) {
      const file = join(root, `new${text}`);
      expect(putNewFile(file, text, { within: root })).toBe(true);
      expect(putNewFile(file, "other", { within: root })).toBe(false);
      expect(readFileSync(file, "utf8")).toBe(text);
    }
    expect(readdirSync(root).sort()).toEqual(["new", "newtext"]);
  });

  it("names the folders that it made, outermost first", () => {
    expect(makeFolder(join(root, "a/b"), { within: root })).toEqual([join(root, "a"), join(root, "a/b")]);
    expect(makeFolder(join(root, "a/b"), { within: root })).toEqual([]);
    expect(removeEmptyFolder(join(root, "a"), { within: root })).toBe(false);
    expect(removeEmptyFolder(join(root, "a/b"), { within: root })).toBe(true);
    expect(removeEmptyFolder(join(root, "a/b"), { within: root })).toBe(false);
  });

  it("moves to a free name only, when asked to", () => {
    for (const name of ["one", "two"]) writeFileSync(join(root, name), name);
    expect(moveFile(join(root, "one"), join(root, "two"), { within: root, isNew: true })).toBe(false);
    expect(moveFile(join(root, "one"), join(root, "three"), { within: root, isNew: true })).toBe(true);
    expect(readdirSync(root).sort()).toEqual(["three", "two"]);
  });

  it("takes the rights of others from a file, and never through a link", () => {
    const link = join(root, "link");
    symlinkSync(join(outside, "file"), link);
    makePrivate(link, 0o600);
    expect(statSync(join(outside, "file")).mode & 0o077).not.toBe(0);
    makePrivate(join(outside, "file"), 0o600);
    expect(statSync(join(outside, "file")).mode & 0o777).toBe(0o600);
  });

  it("removes no folder as scratch that it did not make", () => {
    expect(() => removeScratch(outside)).toThrow("not a scratch folder");
    const folder = makeScratch(join(root, "scratch-"));
    removeScratch(folder);
    expect(existsSync(folder)).toBe(false);
  });

  it("finds the outermost project that a path is in", () => {
    expect(placeAmong("/p/sub/file", ["/p/sub", "/p", "/other"])).toBe("/p");
    expect(placeAmong("/home/file", ["/p", "/hom"])).toBe(USER);
  });
});
