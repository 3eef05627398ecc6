import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  checkTrust,
  makeRecordedStore,
  recordAccepted,
  recordTrust,
  trustRecord,
  userStateFolder,
} from "./project-trust.ts";

const at = new Date("2026-11-18T00:00:00Z");

function scene() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-trust-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const folder = join(base, "project/.haversack");
  mkdirSync(folder, { recursive: true });
  return { base, folder, store: join(folder, "haversack.db"), userState: join(base, "home/.local/state/haversack") };
}

describe("a project's store", () => {
  it("is this user's own when it was made here, and stays so while it is written", () => {
    const { folder, store, userState } = scene();
    expect(checkTrust(folder, userState)).toEqual({ kind: "no-store" });
    expect(makeRecordedStore(folder, userState, at)).toBe(true);
    appendFileSync(store, "data");
    expect(checkTrust(folder, userState)).toMatchObject({ kind: "trusted", record: { folder, at: at.toISOString() } });
    expect(statSync(store).mode & 0o777).toBe(0o600);
    expect(statSync(join(userState, "projects")).mode & 0o777).toBe(0o700);
  });

  it("that came with a clone is not trusted until it is accepted", () => {
    const { folder, store, userState } = scene();
    writeFileSync(store, "data");
    expect(checkTrust(folder, userState)).toEqual({ kind: "untrusted", because: "no-record" });
    recordTrust(folder, userState, { at });
    expect(checkTrust(folder, userState).kind).toBe("trusted");
    rmSync(join(userState, "projects"), { recursive: true });
    expect(checkTrust(folder, userState)).toEqual({ kind: "untrusted", because: "no-record" });
  });

  it("is no longer trusted when another file has taken its place", () => {
    const { folder, store, userState } = scene();
    makeRecordedStore(folder, userState, at);
    appendFileSync(store, "data");
    writeFileSync(`${store}.new`, "forged");
    renameSync(`${store}.new`, store);
    expect(checkTrust(folder, userState)).toEqual({ kind: "untrusted", because: "other-file" });
  });

  it("is no longer trusted when the new file has the old one's inode", () => {
    const { folder, store, userState } = scene();
    makeRecordedStore(folder, userState, at);
    appendFileSync(store, "data");
    // The file system decides whether to reuse the inode; most do.
    rmSync(store);
    writeFileSync(store, "forged");
    expect(checkTrust(folder, userState)).toEqual({ kind: "untrusted", because: "other-file" });
  });

  it("is missing, but other local state came with the clone", () => {
    for (const part of ["wiring.json", "spool"]) {
      const { folder, userState } = scene();
      writeFileSync(join(folder, part), "{}");
      expect(checkTrust(folder, userState)).toEqual({ kind: "untrusted", because: "no-record" });
      recordTrust(folder, userState, { at });
      expect(checkTrust(folder, userState)).toEqual({ kind: "no-store" });
    }
  });

  it("is not trusted because its user set a setting", () => {
    const { folder, store, userState } = scene();
    writeFileSync(store, "forged");
    recordAccepted(folder, userState, { settings: "x", at });
    expect(checkTrust(folder, userState)).toEqual({ kind: "untrusted", because: "no-record" });
    expect(trustRecord(folder, userState)?.settings).toBe("x");
  });

  it("is not trusted at another path, and found through any link to the project", () => {
    const { base, folder, store, userState } = scene();
    makeRecordedStore(folder, userState, at);
    appendFileSync(store, "data");
    symlinkSync(join(base, "project"), join(base, "alias"));
    expect(checkTrust(join(base, "alias/.haversack"), userState).kind).toBe("trusted");
    renameSync(join(base, "project"), join(base, "moved"));
    expect(checkTrust(join(base, "moved/.haversack"), userState)).toEqual({ kind: "untrusted", because: "no-record" });
  });

  it("behind a link is never trusted", () => {
    for (const linked of ["haversack.db", "haversack.db-wal", "haversack.db-shm", "haversack.db-journal"]) {
      const { base, folder, userState } = scene();
      writeFileSync(join(base, "other"), "data");
      symlinkSync(join(base, "other"), join(folder, linked));
      recordTrust(folder, userState, { at });
      expect(checkTrust(folder, userState)).toEqual({ kind: "untrusted", because: "link", files: [linked] });
    }
    const { base, folder, userState } = scene();
    renameSync(folder, join(base, "elsewhere"));
    symlinkSync(join(base, "elsewhere"), folder);
    expect(checkTrust(folder, userState)).toEqual({ kind: "untrusted", because: "link", files: [""] });
  });

  it("cannot be recorded without a home folder, and a relative one is none", () => {
    const { folder, store } = scene();
    expect(userStateFolder({})).toBeUndefined();
    expect(userStateFolder({ XDG_STATE_HOME: "state", HOME: "/home/x" })).toBeUndefined();
    expect(userStateFolder({ HOME: "/home/x" })).toBe("/home/x/.local/state/haversack");
    expect(makeRecordedStore(folder, undefined, at)).toBe(false);
    appendFileSync(store, "data");
    expect(checkTrust(folder, undefined)).toEqual({ kind: "untrusted", because: "no-home" });
  });

  it("has settings that stay accepted when only the store is recorded anew", () => {
    const { folder, userState } = scene();
    recordTrust(folder, userState, { at, settings: "x" });
    recordTrust(folder, userState, { at });
    expect(trustRecord(folder, userState)?.settings).toBe("x");
  });

  it("has a record that may be damaged without harm", () => {
    const { folder, store, userState } = scene();
    makeRecordedStore(folder, userState, at);
    appendFileSync(store, "data");
    const [name = ""] = readdirSync(join(userState, "projects"));
    writeFileSync(join(userState, "projects", name), "{");
    expect(checkTrust(folder, userState)).toEqual({ kind: "untrusted", because: "no-record" });
  });
});
