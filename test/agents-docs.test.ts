/**
 * The pages on agents as a reader follows them, with the built package: every piece of code compiles, the tutorial's commands print what the
 * page shows (`UPDATE_TUTORIAL=1` writes it), and the programs of the other pages run.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAgent } from "../packages/haversack/src/agents/agent-file.ts";
import { scratchProject } from "./bins.ts";

const ROOT = join(import.meta.dirname, "..");
const TUTORIAL = "docs/agents-tutorial.md";
const PAGES = [TUTORIAL, "docs/how-to/migrate-to-dynamic-skills.md", "docs/how-to/save-context-in-loops.md"];
const BLOCK = /^```(\w+)(?: title=(\S+))?\n([\s\S]*?)^```$/gm;
const read = (page: string) => readFileSync(join(ROOT, page), "utf8");
const blocksOf = (page: string) =>
  [...read(page).matchAll(BLOCK)].map(([, kind = "", file, text = ""]) => ({ kind, file, text }));

/** The reader's folder after `npm install`, with the files of the tutorial. */
function folder() {
  const project = scratchProject();
  project.write("package.json", '{ "type": "module" }');
  for (const name of ["ai", "@ai-sdk/openai-compatible", "@types/node"]) {
    const place = join(project.root, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), place);
  }
  symlinkSync(join(ROOT, "packages/haversack"), join(project.root, "node_modules/haversack"));
  const save = (page: string) => {
    for (const { file, text } of blocksOf(page)) if (file) project.write(file, text);
  };
  save(TUTORIAL);
  const run = (file: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
      cwd: project.root,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: project.home, AI_SDK_LOG_WARNINGS: "false" },
    });
    expect({ file, status, stderr }).toEqual({ file, status: 0, stderr: "" });
    return stdout;
  };
  return { ...project, save, run };
}

it("the tutorial's commands print what the page shows", () => {
  const { run } = folder();
  const text = read(TUTORIAL);
  const now = text.replace(BLOCK, (block: string, kind: string, _file: string, content: string) => {
    if (kind !== "console") return block;
    const commands = [...content.matchAll(/^\$ node (\S+)(?: "(.*)")?$/gm)];
    const shown = commands.map(([line, file = "", argument]) => {
      return `${line}\n${run(file, ...(argument === undefined ? [] : [argument]))}`;
    });
    return `\`\`\`console\n${shown.join("")}\`\`\``;
  });
  if (process.env["UPDATE_TUTORIAL"]) writeFileSync(join(ROOT, TUTORIAL), now);
  else expect(now).toBe(text);
});

it("a skilled agent takes ten lines, as the page says", () => {
  const { text } = blocksOf(TUTORIAL).find(({ file }) => file === "analyze.ts")!;
  expect(text.split("\n").filter((line) => line.trim() !== "")).toHaveLength(10);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(110);
});

it("names every key of an agent's file", () => {
  const { hint = "" } = parseAgent("---\nname: a\nversion: 1\n---\nText.", "a.md")?.warnings[0] ?? {};
  const keys = hint.replace(/^The keys are |\.$/g, "").split(", ");
  expect(keys).toContain("response_format");
  const table = read(TUTORIAL).match(/^\| key [\s\S]*?\n\n/m)?.[0] ?? "";
  expect(keys.filter((key) => !table.includes(`\`${key}\``))).toEqual([]);
});

it("every piece of code compiles", () => {
  const { root, write } = folder();
  for (const page of PAGES) {
    for (const [at, { kind, file, text }] of blocksOf(page).entries()) {
      if (kind === "ts") write(file ?? `piece-${PAGES.indexOf(page)}-${at}.ts`, text);
    }
  }
  const compilerOptions = {
    ...{ module: "nodenext", target: "es2024", strict: true, noEmit: true, types: ["node"] },
    ...{ allowImportingTsExtensions: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true, skipLibCheck: true },
  };
  write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const { stdout, status } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", root], { encoding: "utf8" });
  expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
});

describe("the programs of the other pages run", () => {
  const printed: Record<string, Record<string, string>> = {
    "docs/how-to/migrate-to-dynamic-skills.md": {
      "find.ts": "",
      "try.ts": "Analyze Danish tender document: danish-tender-guidelines 1.00\nTranslate this letter: nothing\n",
      "compare.ts": [
        "preloaded: with the skill: [FAKTA] Bids are due on 2031-05-02 (section 4).",
        "dynamic: with the skill: [FAKTA] Bids are due on 2031-05-02 (section 4).",
        "preloaded: with the skill: [FAKTA] Bids are due on 2031-05-02 (section 4).",
        "dynamic: without the skill: Here to help.",
        "",
      ].join("\n"),
    },
    "docs/how-to/save-context-in-loops.md": {
      "save.ts": "The disk is full. 28891\n",
      "keep.ts": "2446 one line of many\n",
      "handoff.ts": "Handoff from reviewer: true\n",
      "skills.ts": "[FAKTA] Bids are due on 2031-05-02 (section 4).\n",
      "claude.ts": "hooks, mcpServers, allowedTools\n",
    },
  };

  it.each(Object.keys(printed))("%s", (page) => {
    const { run, save } = folder();
    save(page);
    const programs = blocksOf(page).flatMap(({ kind, file }) => (kind === "ts" && file ? [file] : []));
    expect(Object.fromEntries(programs.map((file) => [file, run(file)]))).toEqual(printed[page]);
  });
});
