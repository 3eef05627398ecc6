import { describe, expect, it } from "vitest";
import { TEST_SAMPLES } from "../test-outputs.samples.ts";
import { mergeWip } from "../wip/merge-wip.ts";
import type { Wip } from "../wip/wip.ts";
import { captureEvent, type ToolEvent } from "./capture.ts";

const at = new Date("2026-01-02T03:04:05Z");
const shell = (command: string, output = "", exitCode?: number): ToolEvent => ({
  tool: "shell",
  command,
  output,
  root: "/repo",
  cwd: "/repo",
  ...(exitCode === undefined ? {} : { exitCode }),
});
const sample = (runner: string): string => TEST_SAMPLES.find((candidate) => candidate.runner === runner)!.output;
const after = (...events: ToolEvent[]): Wip =>
  events.reduce<Wip>((wip, event) => mergeWip(wip, captureEvent(event) ?? {}, { at }).wip, {});
const edit = (path: string): ToolEvent => ({ tool: "edit", path, root: "/repo" });
const RED = sample("vitest 5.1, with colours");
const GREEN = sample("vitest 5.1");
const COMMIT = "[main 26bb204] Fix it\n 1 file changed, 1 insertion(+)\n";

describe("edits", () => {
  it("are files that changed and are not committed", () => {
    expect(after(edit("/repo/src/a.ts"), { tool: "write", path: "/repo/./b.ts", root: "/repo" })).toMatchObject({
      files_modified: ["src/a.ts", "b.ts"],
      uncommitted_files: ["src/a.ts", "b.ts"],
      uncommitted_changes: true,
    });
    expect(captureEvent({ tool: "edit", paths: ["/repo/a", "/repo/b"], root: "/repo" })?.files_modified).toEqual([
      "a",
      "b",
    ]);
  });

  it("outside the project are no changes to commit", () => {
    expect(captureEvent(edit("/home/user/notes.md"))).toEqual({ files_modified: ["/home/user/notes.md"] });
    expect(captureEvent(edit("/repository/a.ts"))).toEqual({ files_modified: ["/repository/a.ts"] });
  });

  it("that failed, reads and unknown tools say nothing", () => {
    expect(captureEvent({ ...edit("/repo/a.ts"), isError: true })).toBeUndefined();
    expect(captureEvent({ tool: "edit" })).toBeUndefined();
    expect(captureEvent({ tool: "read", path: "/repo/a.ts" })).toBeUndefined();
    expect(captureEvent({ tool: "other", output: RED })).toBeUndefined();
  });
});

describe("test runs", () => {
  it("leave counts, the failing test and why", () => {
    const wip = after(shell("cd web && npm test 2>&1 | tail -60", RED, 0));
    expect(wip.test_results).toEqual({
      ran: true,
      passed: 1,
      failed: 1,
      failing_test: "a.test.ts > order > keeps it",
      command: "npm test",
      at: at.toISOString(),
    });
    expect(wip.errors).toMatchObject([
      { type: "test", message: expect.stringMatching(/keeps it: AssertionError: expected 1 to be 2/) },
    ]);
  });

  it("when green, take the failing test and its error away", () => {
    const wip = after(shell("npm test", RED, 1), shell("npx vitest run", GREEN, 0));
    expect(wip.test_results).toMatchObject({ passed: 2, failed: 0 });
    expect(wip.test_results).not.toHaveProperty("failing_test");
    expect(wip.errors).toEqual([]);
  });

  it("inside a container or a script are read too", () => {
    expect(after(shell("docker compose exec -T app npm test", RED, 1)).test_results).toMatchObject({ failed: 1 });
    expect(after(shell("make check", sample("ctest 3.25"), 2)).test_results).toMatchObject({
      failed: 1,
      failing_test: "order",
    });
    expect(after(shell("npm run build", "built in 2s\n", 0))).not.toHaveProperty("test_results");
  });

  it("without readable counts: null and not a number, if the exit code says that they failed", () => {
    expect(captureEvent(shell("npm test", "Segmentation fault\n", 139))?.test_results).toMatchObject({
      passed: null,
      failed: null,
    });
    expect(captureEvent(shell("./gradlew test", "BUILD SUCCESSFUL in 2s\n", 0))?.test_results).toMatchObject({
      passed: null,
      failed: 0,
    });
  });

  it.each(["FAIL login.test.js\n 1 failed, 2 passed\n", "3 failures\n", "not ok 2 - adds\n"])(
    "that end well and speak of failures in a form of their own give no count: %j",
    (text) => {
      const { test_results: tests } = after(shell("npm test", text, 0));
      expect((tests as { failed?: unknown } | undefined)?.failed).not.toBe(0);
    },
  );

  it("of which nothing is known leave the last result alone", () => {
    const red = shell("npm test", RED, 1);
    const known = after(red).test_results;
    expect(after(red, shell("npm test | tail -1", "Duration 3s\n", 0)).test_results).toEqual(known);
    expect(after(red, shell("npm run build && npm test", "boom\n", 1)).test_results).toEqual(known);
    expect(after(red, shell("npm test", "")).test_results).toEqual(known);
    expect(after(red, { ...shell("npm test", "", 0), isBackground: true }).test_results).toEqual(known);
    expect(after(red, shell("npx jest nosuch", "No tests found, exiting with code 1\n", 1)).test_results).toEqual(
      known,
    );
  });

  describe("behind a pipe", () => {
    const FAILED = [
      "✖ failing tests:",
      "",
      "test at x.test.js:1:88",
      "✖ adds up (0.68ms)",
      "  AssertionError [ERR_ASSERTION]: 1 == 2",
      "      at TestContext.<anonymous> (/repo/x.test.js:1:115) {",
      "    code: 'ERR_ASSERTION',",
      "  }",
    ].join("\n");
    const summary = (pass: number, fail: number) =>
      ["# tests 3", "# suites 0", `# pass ${pass}`, `# fail ${fail}`, "# cancelled 0", "# duration_ms 344.7"].join(
        "\n",
      );

    it.each([
      "node --test | tail -20",
      "node --test 2>&1 | tail -n 20",
      "cd web && CI=1 node --test 2>&1 | tee out.log | tail -20",
      "env NODE_ENV=test timeout 60 node --test |& tail -20",
    ])("show a failing test although the counts are cut off: %s", (command) => {
      // The exit code is tail's.
      const wip = after(shell(command, FAILED, 0));
      expect(wip.test_results).toMatchObject({ ran: true, passed: null, failed: null, failing_test: "adds up" });
      expect(wip.errors).toMatchObject([{ type: "test", message: expect.stringContaining("1 == 2") }]);
    });

    it("are green by their counts, and not by the exit code", () => {
      expect(after(shell("node --test | tail -20", summary(3, 0), 0)).test_results).toMatchObject({
        passed: 3,
        failed: 0,
      });
      expect(after(shell("node --test | tail -20", "some other output\n", 0)).test_results).toBeUndefined();
      expect(after(shell("npm test 2>&1 | tail -20", "some other output\n", 0)).test_results).toBeUndefined();
    });

    it("take no count for zero that was not let through", () => {
      const lines = (...wanted: string[]) =>
        summary(2, 1)
          .split("\n")
          .filter((line) => wanted.some((word) => line.includes(word)))
          .join("\n");
      const results = (command: string, output: string) => after(shell(command, output, 0)).test_results;
      expect(results("node --test | grep fail", lines("fail"))).toMatchObject({ passed: null, failed: 1 });
      expect(results("node --test | grep pass", lines("pass"))).toMatchObject({ passed: 2, failed: null });
      expect(results("node --test | grep -E 'pass|fail'", lines("pass", "fail"))).toMatchObject({
        passed: 2,
        failed: 1,
      });
      expect(results("npx vitest run | grep Tests", " Tests  3 passed (3)\n")).toMatchObject({ passed: 3, failed: 0 });
    });
  });

  it("that pass and yet fail are not green", () => {
    const wip = after(
      shell("npm test", RED, 1),
      shell("npm test", `${GREEN}\nERROR: Coverage for lines (60%) does not meet threshold\n`, 1),
    );
    expect(wip.test_results).toMatchObject({ passed: 2, failed: 0 });
    expect(wip.errors?.map(({ type }) => type)).toEqual(["test", "command"]);
    expect(wip.errors?.[1]?.message).toMatch(/^exit 1: .*Coverage/);
  });

  it("that do not compile leave the compiler's errors", () => {
    const wip = after(shell("go test ./...", sample("go test, does not build"), 1));
    expect(wip.test_results).toMatchObject({ passed: null, failed: null });
    expect(wip.errors).toMatchObject([{ type: "compile_error", tool: "go", file: "cart_test.go:9" }]);
  });

  it("of two runners count as failed when one failed", () => {
    const wip = after(
      shell("npm test; npx playwright test", sample("vitest 5.1"), 0),
      shell("npm test && npm run e2e", RED, 1),
    );
    expect(wip.test_results).toMatchObject({ failed: 1 });
  });
});

describe("commits", () => {
  it("settle the files", () => {
    const wip = after(edit("/repo/a.ts"), edit("/repo/src/b.ts"), shell("git commit -am 'Fix it'", COMMIT, 0));
    expect(wip).toMatchObject({
      last_commit: "26bb204",
      uncommitted_changes: false,
      uncommitted_files: [],
      files_modified: ["a.ts", "src/b.ts"],
    });
  });

  it("settle only what they name", () => {
    const edits = [edit("/repo/a.ts"), edit("/repo/web/src/b.ts")];
    expect(after(...edits, shell("git add a.ts && git commit -m x", COMMIT, 0))).toMatchObject({
      uncommitted_files: ["web/src/b.ts"],
      uncommitted_changes: true,
    });
    expect(after(...edits, shell("cd web && git add . && git commit -m x", COMMIT, 0)).uncommitted_files).toEqual([
      "a.ts",
    ]);
    expect(
      after(...edits, { ...shell("git add src && git commit -m x", COMMIT, 0), cwd: "/repo/web" }).uncommitted_files,
    ).toEqual(["a.ts"]);
    expect(after(...edits, shell("git add . && git commit -m x", COMMIT, 0))).toMatchObject({
      uncommitted_files: [],
      uncommitted_changes: false,
    });
  });

  it("count although the push behind them failed", () => {
    const wip = after(edit("/repo/a.ts"), shell("git commit -am x && git push", `${COMMIT}fatal: no upstream\n`, 128));
    expect(wip).toMatchObject({ last_commit: "26bb204", uncommitted_files: [] });
    expect(wip.errors?.[0]).toMatchObject({
      type: "command",
      message: "exit 128: fatal: no upstream",
      command: "git push",
    });
  });

  it("without a hash leave no stale one", () => {
    expect(after(shell("git commit -m x", COMMIT, 0), shell("git commit -qm y", "", 0))).not.toHaveProperty(
      "last_commit",
    );
    expect(after({ ...shell("git commit -qm y", "", 0), commitSha: "abc1234" }).last_commit).toBe("abc1234");
  });

  it("are not seen in checkouts, stashes and resets", () => {
    const before = after(edit("/repo/a.ts"));
    for (const line of ["git checkout -- a.ts", "git stash", "git reset --hard HEAD~1"]) {
      expect(after(edit("/repo/a.ts"), shell(line, "HEAD is now at 26bb204 x\n", 0))).toEqual(before);
    }
  });
});

describe("errors", () => {
  const TSC = "src/a.ts(1,7): error TS2322: No.\nsrc/a.ts(2,7): error TS2304: Never.\n";

  it("of a tool are replaced by its next run and settled by its success", () => {
    const first = shell("npx tsc --noEmit", TSC, 2);
    expect(after(first).errors).toMatchObject([
      { type: "type_error", tool: "tsc", file: "src/a.ts:1" },
      { file: "src/a.ts:2" },
    ]);
    expect(after(first, shell("npx tsc -p .", TSC.split("\n")[1]!, 2)).errors).toHaveLength(1);
    expect(after(first, shell("npx tsc -p . && echo ok", "ok\n", 0)).errors).toEqual([]);
    expect(after(first, shell("npx tsc -p . 2>&1 | head -20", "", 0)).errors).toEqual([]);
    expect(after(first, shell("npx eslint .", "", 0)).errors).toHaveLength(2);
  });

  it("of a script are settled when the same script succeeds", () => {
    const first = shell("npm run typecheck", `> tsc\n${TSC}`, 2);
    expect(after(first).errors).toHaveLength(2);
    expect(after(first, shell("npm run lint", "fine\n", 0)).errors).toHaveLength(2);
    expect(after(first, shell("npm run typecheck", "> tsc\n", 0)).errors).toEqual([]);
  });

  it("are read without an exit code from what a checker prints", () => {
    expect(after(shell("npx tsc --noEmit", TSC)).errors).toHaveLength(2);
  });

  it("of other commands say how they ended", () => {
    const first = shell("terraform plan", "Reading\nError: no such module\nsee above\n", 1);
    expect(after(first).errors).toMatchObject([
      { type: "command", message: "exit 1: Error: no such module", command: "terraform plan" },
    ]);
    expect(after(first, shell("terraform plan", "No changes.\n", 0)).errors).toEqual([]);
    expect(after(shell("node a.js", "TypeError: no\n    at f (/repo/a.js:1:6)\n", 1)).errors).toMatchObject([
      { type: "exception", file: "/repo/a.js:1" },
    ]);
  });

  it("name the command that failed, not the checker before it", () => {
    expect(after(shell("npx tsc; terraform plan", "boom\n", 1)).errors).toMatchObject([{ command: "terraform plan" }]);
  });

  it("are not what a search finds, nor a search without a find", () => {
    expect(captureEvent(shell("grep -rn error: logs", TSC, 0))).toBeUndefined();
    expect(captureEvent(shell("cat build.log", TSC, 0))).toBeUndefined();
    expect(captureEvent(shell("rg nothing", "", 1))).toBeUndefined();
    expect(after(shell("git diff", `+${TSC}${TSC}`, 0))).toEqual({});
  });
});

describe("the plan", () => {
  it("gives position and next step", () => {
    expect(captureEvent({ tool: "todo", todos: [{ content: "A", status: "in_progress" }] })).toEqual({
      plan: { position: 1, done: 0, total: 1, current: "A" },
      next_step: "A",
    });
    expect(captureEvent({ tool: "todo" })).toBeUndefined();
  });
});

describe("hostile input", () => {
  it("is masked, stripped and cut", () => {
    const key = `ghp_${"a1B2".repeat(9)}`;
    const patch = captureEvent(
      shell(
        `TOKEN=${key} npm test ${"x".repeat(2000)}`,
        `\u001b[31m FAIL  a > ${key}\u0007\n      Tests  1 failed (1)\n`,
        1,
      ),
    );
    expect(JSON.stringify(patch)).not.toMatch(/ghp_|\\u00/);
    expect(patch?.test_results?.command?.length).toBeLessThanOrEqual(300);
    const long = captureEvent(edit(`/repo/${"d/".repeat(900)}a.ts`))!.files_modified![0]!;
    expect(long.length).toBeLessThanOrEqual(500);
  });

  const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
  const pem = (joint: string, lines = 3) =>
    [
      ["-----BEGIN", "RSA PRIVATE KEY-----"].join(" "),
      ...Array.from({ length: lines }, (_, at) => (at === 0 ? body.slice(0, 40) : body).split("").reverse().join("")),
      ["-----END", "RSA PRIVATE KEY-----"].join(" "),
    ].join(joint);
  const pieces = [body.slice(0, 40), body].map((line) => line.split("").reverse().join("").slice(4, 30));

  it.each([
    ["in double quotes, with \\n", `node deploy.js --key "${pem("\\n")}"`],
    ["in $'…'", `node deploy.js --key $'${pem("\\n")}'`],
    ["as words", `node deploy.js '${pem("' '")}'`],
    ["on several lines", `node deploy.js "${pem("\n")}"`],
    ["with a line continued", `node deploy.js ${pem("\\\n")}`],
    ["inside bash -c", `bash -c "node deploy.js '${pem("\\n")}'"`],
  ])("holds no piece of a private key %s", (_, command) => {
    const stored = JSON.stringify(captureEvent(shell(command, "Error: no such key\n", 1)));
    expect(stored).toContain("deploy.js");
    expect(stored).toContain("[masked:private-key]");
    for (const piece of pieces) expect(stored).not.toContain(piece);
  });

  it("holds no half of a secret that the output was cut in", () => {
    const key = ["sk", "ant", "api03", "Zq8Xw2Lr9Tn4Vb7Mc1Kd6Hj3Pf5Gs0Ya"].join("-");
    for (let shift = 0; shift < 60; shift += 7) {
      const head = `${"x".repeat(15_950 + shift)} ${key} `;
      const tail = ` ${key} ${"y".repeat(47_950 + shift)}\nError: boom at ${key}\n`;
      const long = `Error: ${"z".repeat(360 + shift)} ${key}\n`;
      for (const output of [head + "m".repeat(90_000) + tail, long]) {
        const stored = JSON.stringify(captureEvent(shell("node deploy.js", output, 1)));
        expect(stored).not.toMatch(/api03|Zq8Xw2|Gs0Ya/);
      }
    }
  });

  it("holds no secret of a path", () => {
    const key = `ghp_${"a1B2".repeat(9)}`;
    const paths = [
      `/repo/tmp/${key}/a.ts`,
      "https://me:hunter2@host.dev/r/a.ts",
      `/repo/${"d/".repeat(495)}${key}/a.ts`,
    ];
    for (const path of paths) {
      const stored = JSON.stringify(captureEvent(edit(path)));
      expect(stored).not.toMatch(/hunter2|ghp_/);
    }
    expect(captureEvent(edit(paths[0]!))!.files_modified).toEqual(["tmp/[masked:github-token]/a.ts"]);
    const commit = captureEvent(shell(`git add ${key}.ts && git commit -m x ${key}.ts`, COMMIT, 0));
    expect(JSON.stringify(commit)).not.toContain("ghp_");
  });

  it.each([
    ["spaces", " ".repeat(1_000_000)],
    ["blank lines", "\n".repeat(1_000_000)],
    ["one long line", "a > ".repeat(250_000)],
    ["failing lines", " FAIL  a > b\n".repeat(80_000)],
    ["numbered lines", "  1) a\n       b\n".repeat(60_000)],
    ["frames", '  File "a", line 1\n    x\n'.repeat(40_000)],
    ["brackets", "[a ".repeat(300_000)],
    ["escape sequences", "\u001b[31m".repeat(200_000)],
    ["errors", "a:1: error\nerror: \n --> ".repeat(40_000)],
    ["rules", "____ ".repeat(200_000)],
  ])("of a megabyte of %s is read to its end", (_, output) => {
    for (const line of ["npm test", "tsc", "git commit -m x", "python a.py"]) {
      captureEvent(shell(line, `${output}\n      Tests  1 failed (1)\n`, 1));
    }
    expect(captureEvent(shell("npm test", `${output}\n      Tests  1 failed (1)\n`, 1))?.test_results?.failed).toBe(1);
  });
});
