import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commandsIn } from "../work/capture/shell-words.ts";
import { printedLines } from "./printed-lines.ts";
import {
  formatSendBack,
  gapsIn,
  judgeReceipts,
  type Observation,
  type RequiredDocument,
  readFilesReadLine,
  receiptRates,
  requiredDocuments,
} from "./receipts.ts";
import { sampleDocuments } from "./sample-feature.suite.ts";

const folder = "/repo/docs/features/031-x";
const required: RequiredDocument[] = [
  { file: "prd.md", name: "PRD", path: `${folder}/prd.md`, lineCount: 50 },
  { file: "spec.md", name: "Spec", path: `${folder}/spec.md`, lineCount: 210 },
  { file: "design.md", name: "Design", path: `${folder}/design.md`, lineCount: 1_204 },
];
const [prd, spec, design] = required as [RequiredDocument, RequiredDocument, RequiredDocument];

const read = (document: RequiredDocument, rest: Partial<Extract<Observation, { tool: "read" }>> = {}): Observation => {
  return { tool: "read", path: document.path, ...rest };
};
const shell = (command: string, rest: { outputLines?: number; cwd?: string } = {}): Observation => {
  return { tool: "shell", commands: commandsIn(command), cwd: folder, ...rest };
};
const judge = (observations: Observation[] | undefined, answer = "") =>
  judgeReceipts({ role: "spec-reviewer", required, observations, answer });

describe("judgeReceipts from tool calls", () => {
  it("warns once and names the third, although the answer claims all three", () => {
    const answer = "Files read: prd.md (50 lines), spec.md (210 lines), design.md (1204 lines)\n{}";
    const judgement = judge([read(prd), read(spec)], answer);
    expect(judgement.warning).toBe(
      "LAZY-LOAD-WARNING: spec-reviewer did not confirm artifact reads: design.md (0 of 1204 lines seen)",
    );
    expect(judgement.missing).toEqual([
      {
        file: "design.md",
        path: design.path,
        lineCount: 1_204,
        status: "unread",
        share: 0,
        seenLines: 0,
        unseen: [{ from: 1, to: 1_204 }],
        claimedLines: 1_204,
      },
    ]);
    expect(judgement.source).toBe("events");
  });

  it("has no warning when all was read, in pieces, in any order, by several tools", () => {
    const judgement = judge([
      read(design, { offset: 601, limit: 700 }),
      shell("head -600 design.md"),
      read(spec, { offset: 1, limit: 105 }),
      { tool: "grep", path: spec.path, lines: Array.from({ length: 105 }, (_, index) => index + 106) },
      shell("cat prd.md"),
    ]);
    expect(judgement.documents.map(({ share }) => share)).toEqual([1, 1, 1]);
    expect(judgement.warning).toBeUndefined();
    expect(judgement.missing).toEqual([]);
  });

  it("takes nine tenths for read, and less for partial", () => {
    const [, almost] = judge([read(spec, { limit: 189 })]).documents;
    expect(almost).toMatchObject({ status: "read", share: 0.9 });
    const [, less] = judge([read(spec, { limit: 188 })]).documents;
    expect(less).toMatchObject({ status: "partial", seenLines: 188, unseen: [{ from: 189, to: 210 }] });
    expect(judge([read(spec, { limit: 188 })]).warning).toContain("spec.md (188 of 210 lines seen)");
  });

  it("knows that a read without a limit is cut, believes what was shown, and a file that changed since", () => {
    const long: RequiredDocument = { file: "long.md", name: "Long", path: "/repo/long.md", lineCount: 5_000 };
    const share = (rest: Partial<Extract<Observation, { tool: "read" }>>) =>
      judgeReceipts({ role: "r", required: [long], observations: [read(long, rest)] }).documents[0]!.seenLines;
    expect(share({})).toBe(2_000);
    expect(share({ limit: 5_000, shownLines: 800 })).toBe(800);
    expect(share({ limit: 5_000, totalLines: 5_001 })).toBe(5_000);
    expect(share({ totalLines: 1_500 })).toBe(5_000);
    expect(share({ offset: 4_001 })).toBe(1_000);
    expect(share({ offset: 6_000 })).toBe(0);
  });

  it("does not take another file, a search or an empty list for reading", () => {
    const other: Observation = { tool: "read", path: "/repo/docs/features/030-y/spec.md" };
    const judgement = judge([other, { tool: "grep", path: spec.path }]);
    expect(judgement.missing.map(({ file }) => file)).toEqual(["prd.md", "spec.md", "design.md"]);
    expect(judge([]).missing).toHaveLength(3);
    expect(judgeReceipts({ role: "r", required: [], observations: [] }).warning).toBeUndefined();
    expect(
      judgeReceipts({ role: "r", required: [{ ...spec, lineCount: 0 }], observations: [] }).warning,
    ).toBeUndefined();
  });

  it("resolves relative paths", () => {
    const observations: Observation[] = [{ tool: "read", path: "docs/features/031-x/../031-x/spec.md" }];
    const judgement = judgeReceipts({ role: "r", required: [spec], observations, cwd: "/repo" });
    expect(judgement.missing).toEqual([]);
  });

  it("words what to read when it is sent back", () => {
    const { missing } = judge([read(prd), read(spec, { offset: 11, limit: 100 })]);
    expect(formatSendBack(missing)).toBe(
      `You have not read all that you must. Read this now, then give your whole answer again:
- ${spec.path} (lines 1–10, 111–210 of 210)
- ${design.path} (all 1204 lines)`,
    );
  });
});

describe("judgeReceipts from the answer alone", () => {
  it.each([
    ["Files read: prd.md (50 lines), spec.md (210 lines), design.md (1,204 lines)", []],
    ["**Files read:** `PRD` (50 lines), `Spec` (210 lines) and `Design` (1204 lines)", []],
    [`Done.\nFiles read: ${prd.path} (51 lines); ${spec.path} (209 lines); ./design.md (1204 lines).`, []],
    ["Files read:\n- prd.md (50 lines)\n- spec.md: 210 lines\n* design.md — 1204 lines\n\nOther.", []],
    ["Files read: prd.md (50), spec.md (210), design.md (1204)", []],
    [
      "Files read: prd.md (50 lines), spec.md (200 lines)",
      ["spec.md (claimed 200 lines, has 210)", "design.md (not named)"],
    ],
    [
      "Files read: prd.md (52 lines), spec.md (208 lines), design.md (1204 lines)",
      ["prd.md (claimed 52 lines, has 50)", "spec.md (claimed 208 lines, has 210)"],
    ],
    [
      "Files read: prd.md, spec.md, design.md",
      ["prd.md (no line count)", "spec.md (no line count)", "design.md (no line count)"],
    ],
    ["I read everything.", ["prd.md (not named)", "spec.md (not named)", "design.md (not named)"]],
    ["Files read: {name} ({N} lines), ...", ["prd.md (not named)", "spec.md (not named)", "design.md (not named)"]],
    ["Files read: /other/prd.md (50 lines), spec.md (210 lines), design.md (1204 lines)", ["prd.md (not named)"]],
  ])("judges %j", (answer, missing) => {
    const judgement = judge(undefined, answer);
    expect(judgement.source).toBe("claim");
    const words = "LAZY-LOAD-WARNING: spec-reviewer did not confirm artifact reads: ";
    expect(judgement.warning).toBe(missing.length === 0 ? undefined : words + missing.join(", "));
  });

  it("tells an absent line from an empty one", () => {
    expect(readFilesReadLine("nothing")).toBeUndefined();
    expect(readFilesReadLine("Files read: none")).toEqual({ files: [{ name: "none" }] });
    expect(readFilesReadLine("Files read:")).toEqual({ files: [] });
  });
});

describe("printedLines", () => {
  const files = [
    { path: `${folder}/spec.md`, lineCount: 210 },
    { path: `${folder}/design.md`, lineCount: 1_204 },
  ];
  const printed = (command: string, outputLines?: number) =>
    printedLines(commandsIn(command), { cwd: folder, files, outputLines }).map(
      ({ path, from, to }) => `${path.slice(folder.length + 1)} ${from}-${to}`,
    );

  it.each([
    ["cat spec.md", ["spec.md 1-210"]],
    [`cat ${folder}/spec.md`, ["spec.md 1-210"]],
    ["cat spec.md design.md", ["spec.md 1-210", "design.md 1-1204"]],
    ["cat -n 'spec.md' | head -n 20", ["spec.md 1-20"]],
    ["cat other.md spec.md | head -n 20", []],
    ["cat spec.md other.md | head -n 20", ["spec.md 1-20"]],
    ["cat other.md spec.md | tail -n 20", ["spec.md 191-210"]],
    ["cat spec.md design.md | sed -n '200,220p'", ["spec.md 200-210", "design.md 1-10"]],
    ["nl -ba spec.md", ["spec.md 1-210"]],
    ["less spec.md", ["spec.md 1-210"]],
    ["bat -r 10:20 spec.md", ["spec.md 10-20"]],
    ["bat --line-range=200: spec.md", ["spec.md 200-210"]],
    ["head spec.md", ["spec.md 1-10"]],
    ["head -50 spec.md", ["spec.md 1-50"]],
    ["head -n50 spec.md", ["spec.md 1-50"]],
    ["head --lines=50 spec.md", ["spec.md 1-50"]],
    ["head -n -10 spec.md", ["spec.md 1-200"]],
    ["head -c 100 spec.md", []],
    ["head -100 spec.md | tail -20", ["spec.md 81-100"]],
    ["tail -n +200 spec.md", ["spec.md 200-210"]],
    ["tail -5 spec.md", ["spec.md 206-210"]],
    ["tail -n 500 spec.md", ["spec.md 1-210"]],
    ["sed -n '10,20p' spec.md", ["spec.md 10-20"]],
    ["sed -n '1,5p;200,$p' spec.md", ["spec.md 1-5", "spec.md 200-210"]],
    ["sed -n -e 7p spec.md", ["spec.md 7-7"]],
    ["sed -n '/Error/,/^## /p' spec.md", []],
    ["sed 20q spec.md", ["spec.md 1-20"]],
    ["sed 's/a/b/' spec.md", ["spec.md 1-210"]],
    ["sed -i 's/a/b/' spec.md", []],
    ["awk 'NR>=10 && NR<=20' spec.md", ["spec.md 10-20"]],
    ["awk 'NR==10,NR==20 {print}' spec.md", ["spec.md 10-20"]],
    ["awk '{print NR\": \"$0}' spec.md", ["spec.md 1-210"]],
    ["awk '{print $1}' spec.md", []],
    ["git show HEAD:docs/features/031-x/spec.md", ["spec.md 1-210"]],
    ["git show HEAD", []],
    ["git -C /repo show :docs/features/031-x/spec.md | head -5", ["spec.md 1-5"]],
    ["grep -n '' spec.md", ["spec.md 1-210"]],
    ["grep -n Error spec.md", []],
    ["grep -c '' spec.md", []],
    ["cat spec.md | grep Error", []],
    ["wc -l spec.md", []],
    ["cat spec.md | wc -l", []],
    ["cd .. && cat spec.md", []],
    ["cd /repo && cat docs/features/031-x/spec.md", ["spec.md 1-210"]],
    ["cd ../031-x; cat spec.md", ["spec.md 1-210"]],
    ["cat *.md", ["spec.md 1-210", "design.md 1-1204"]],
    ["cat ../*/spec.md", ["spec.md 1-210"]],
    ["cat *.txt", []],
    ["cat /repo/*.md", []],
    ["cat {spec,design}.md", ["spec.md 1-210", "design.md 1-1204"]],
    [`D=${folder}; cat $D/spec.md`, ["spec.md 1-210"]],
    [`D=${folder} && cat "\${D}/spec.md"`, ["spec.md 1-210"]],
    ["for f in spec design; do cat $f.md; done", ["spec.md 1-210", "design.md 1-1204"]],
    ["cat $UNKNOWN/spec.md", []],
    ["bash -c 'cat spec.md'", ["spec.md 1-210"]],
    ["cat spec.md | tee copy.md", ["spec.md 1-210"]],
    ["echo cat spec.md", []],
    ["git commit -m 'cat spec.md'", []],
    ["", []],
  ])("%s", (command, expected) => {
    expect(printed(command)).toEqual(expected);
  });

  it("counts no more than the model got to see", () => {
    expect(printed("cat spec.md", 30)).toEqual(["spec.md 1-30"]);
    expect(printed("cat spec.md design.md", 220)).toEqual(["spec.md 1-210", "design.md 1-10"]);
    expect(printed("cat spec.md > copy.md", 0)).toEqual([]);
    const commands = [{ words: ["cat", "spec.md"], joint: "" as const, writesTo: "copy.md" }];
    expect(printedLines(commands, { cwd: folder, files })).toEqual([]);
  });

  it("never prints what the file does not have, whatever the command", () => {
    const word = fc.constantFrom(
      "cat",
      "head",
      "tail",
      "sed",
      "awk",
      "-n",
      "-5",
      "+3",
      "10,20p",
      "spec.md",
      "|",
      "*.md",
      "{a,b}",
      "$x",
      "cd",
      "..",
      "NR<=3",
      "-",
      "bat",
      "-r",
      "5:9",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        for (const { path, from, to } of printedLines(commandsIn(words.join(" ")), { cwd: folder, files })) {
          const file = files.find((candidate) => candidate.path === path);
          expect(file).toBeDefined();
          expect(from).toBeGreaterThanOrEqual(1);
          expect(to).toBeLessThanOrEqual(file!.lineCount);
          expect(from).toBeLessThanOrEqual(to);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("requiredDocuments", () => {
  it("asks for no receipt of what cannot be read", () => {
    const [noPrd, ...others] = sampleDocuments({ hasPrd: false });
    const references = [noPrd!, { ...others[0]!, state: "missing" as const }, others[1]!];
    expect(requiredDocuments(references)).toEqual([
      { file: "design.md", name: "Design", path: others[1]!.path, lineCount: 16 },
    ]);
  });
});

describe("receiptRates", () => {
  it("counts by role and document, and says where more than a fifth is missing", () => {
    const rows = [
      { role: "spec-reviewer", file: "prd.md", total: 5, missing: 1 },
      { role: "plan-reviewer", file: "spec.md", total: 4, missing: 1 },
    ];
    expect(receiptRates(rows)).toEqual([
      { role: "plan-reviewer", file: "spec.md", total: 4, missing: 1, rate: 0.25, isAboveGate: true },
      { role: "spec-reviewer", file: "prd.md", total: 5, missing: 1, rate: 0.2, isAboveGate: false },
    ]);
    expect(receiptRates([])).toEqual([]);
  });
});

describe("gapsIn", () => {
  it("is what no range holds", () => {
    const range = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 20 }));
    fc.assert(
      fc.property(fc.array(range, { maxLength: 8 }), fc.integer({ min: 0, max: 50 }), (pairs, lineCount) => {
        const ranges = pairs.map(([from, length]) => ({ from, to: from + length }));
        const gaps = gapsIn(ranges, lineCount);
        const held = (line: number, list: typeof ranges) => list.some(({ from, to }) => from <= line && line <= to);
        for (let line = 1; line <= lineCount; line++) expect(held(line, gaps)).toBe(!held(line, ranges));
        for (const { from, to } of gaps) expect(from >= 1 && from <= to && to <= lineCount).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
