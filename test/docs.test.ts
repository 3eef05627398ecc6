/** Checks the docs: links resolve, commands exist with the options shown, and the code map names symbols in the right files. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { SETTINGS } from "../packages/haversack/src/base/config-schema.ts";
import type { Command } from "../packages/haversack/src/cli/command.ts";
import { allOptions } from "../packages/haversack/src/cli/parse.ts";
import { COMMANDS, namesOf, OLD_NAMES } from "../packages/haversack/src/cli/table.ts";

const ROOT = join(import.meta.dirname, "..");
const SRC = join(ROOT, "packages/haversack/src");
const PAGES = [
  ...["README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];
const read = (page: string) => readFileSync(join(ROOT, page), "utf8");

describe("links", () => {
  it.each(PAGES)("%s leads somewhere with each of them", (page) => {
    const broken = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, to = ""]) => {
      if (/^[a-z]+:/.test(to)) return [];
      const [file = "", anchor] = to.split("#");
      const target = file === "" ? join(ROOT, page) : join(ROOT, dirname(page), file);
      if (!existsSync(target)) return [`${to}: there is no ${relative(ROOT, target)}`];
      if (anchor === undefined || statSync(target).isDirectory()) return [];
      return anchorsOf(readFileSync(target, "utf8")).includes(anchor) ? [] : [`${to}: no heading #${anchor}`];
    });
    expect(broken).toEqual([]);
  });

  it("docs/README.md leads to every page", () => {
    const index = read("docs/README.md");
    const pages = PAGES.filter((page) => /^docs\/(?:how-to|reference|explanation)\//.test(page));
    expect(pages.filter((page) => !index.includes(`(${relative("docs", page)})`))).toEqual([]);
  });
});

describe("numbers in the README", () => {
  const benchmarks = read("docs/explanation/benchmarks.md").split("\n");
  const rows = [...read("README.md").matchAll(/^\| (.+?) \| (.+?) \| `(npm .+?)` \|$/gm)];
  it("are five", () => expect(rows).toHaveLength(5));
  it.each(rows.map(([, what = "", result = "", command = ""]) => ({ what, result, command })))(
    "$what: are on the page of benchmarks, with the same command",
    ({ result, command }) => {
      const at = benchmarks.findIndex((line) => line.includes(`\`${command}\``) || line.includes(`\`${command} `));
      expect(at).toBeGreaterThan(-1);
      const section = benchmarks.slice(at - 1, at + 12).join("\n");
      for (const [number] of result.matchAll(/\d[\d,.]*/g)) expect(section).toContain(number);
    },
  );
});

describe("the lives of an event on the page of the architecture", () => {
  const page = read("docs/explanation/architecture.md");
  const sectionOf = (heading: string) => page.split(`\n${heading}\n`)[1]!.split(/\n##+ /)[0]!;
  // A line with files only. The first step of an event has a file for each way in, between dots.
  const filesOf = (heading: string) =>
    [...sectionOf(heading).matchAll(/^ {3}((?:`[\w./-]+\.ts`,? ?)+)$/gm)].flatMap(([, list = ""]) =>
      [...list.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file),
    );
  const always = filesOf("## The life of an event");

  it.each([
    ["### A prompt", "prompt", always],
    ["### A tool call", "tool call", always],
    ["### A claim", "claim by CLI", []],
    ["### A wake-up", "wake-up", always],
  ])(
    "%s: names the files that run, all of them but those of base",
    (heading, path, before) => {
      const script = join(ROOT, "scripts/paths.mjs");
      const ran: string[] = JSON.parse(
        execFileSync(process.execPath, ["--no-warnings", script, "--play", path], { encoding: "utf8" }),
      );
      const named = [...new Set([...before, ...filesOf(heading)])];
      // Claude Code's adapter is one of four, so its own helpers are not part of the general description.
      const isOfPage = (file: string) => !file.startsWith("base/") && file !== "clients/claude-code/transcripts.ts";
      expect(named.toSorted()).toEqual(ran.filter(isOfPage).toSorted());
    },
    60_000,
  );
});

describe("commands", () => {
  const typed = new Map<string, { name: string; entry: (typeof COMMANDS)[number] }>();
  for (const entry of COMMANDS) {
    const { short, isDefault } = entry;
    const names = namesOf(entry);
    for (const name of names) typed.set(name, { name, entry });
    const [first = ""] = names;
    for (const word of [short, isDefault && first.split(" ")[0]]) if (word) typed.set(word, { name: first, entry });
  }
  // The changelog and the decisions keep the names that were valid then. Generated pages come from the commands themselves.
  const pages = PAGES.filter((page) => !/CHANGELOG|decisions\/|reference\/cli/.test(page));
  it.each(pages)("%s names commands and options that exist", async (page) => {
    const problems: string[] = [];
    for (const line of commandLines(read(page))) {
      const words = line.split(/\s+/);
      const two = words.slice(0, 2).join(" ");
      const found = typed.get(two) ?? typed.get(words[0] ?? "");
      const old = OLD_NAMES[two] ?? (found ? undefined : OLD_NAMES[words[0] ?? ""]);
      if (old) problems.push(`haversack ${line}: an old name of ${old.now}`);
      else if (!found) {
        if (!/^(?:COMMAND|help|--|[A-Z…])/.test(line)) problems.push(`haversack ${line}: no such command`);
      } else {
        const load: (name: string) => Promise<Command> = found.entry.load;
        const known = Object.keys(allOptions((await load(found.name)).spec));
        const [own = ""] = line.split(" -- ");
        for (const [, option = ""] of own.matchAll(/(?:^|\s)--([a-z][a-z-]*)/g)) {
          if (!known.includes(option)) problems.push(`haversack ${line}: no option --${option}`);
        }
      }
    }
    expect(problems).toEqual([]);
  });
});

describe("the clients' pages", () => {
  const clients = join(SRC, "clients");
  const code = readdirSync(clients, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(clients, name), "utf8"))
    .join("\n");
  it.each(PAGES.filter((page) => page.startsWith("docs/reference/clients/")))("%s names the tested version", (page) => {
    const version = /^Tested with .+? (\d[\w.]*\w)/m.exec(read(page))?.[1];
    expect(code).toContain(`"${version}"`);
  });
});

describe("settings", () => {
  const pages = PAGES.filter((page) => !/CHANGELOG|decisions\//.test(page));
  const families = [...new Set(Object.keys(SETTINGS).map((key) => key.split(".")[0]))].join("|");
  const KEY = new RegExp(`\`((?:${families})\\.[a-z]\\w*)(?:: [^\`]+)?\``, "gi");
  it.each(pages)("%s names settings that exist", (page) => {
    const named = [...read(page).matchAll(KEY)].map(([, key = ""]) => key);
    // Files, a key of Gemini CLI, and a function of the library.
    const isOther = (key: string) => /\.(?:md|ts|json|jsonl|db|mjs|disabled|match)$/.test(key);
    expect(named.filter((key) => !Object.hasOwn(SETTINGS, key) && !isOther(key))).toEqual([]);
  });
});

describe("the code map", () => {
  const page = "docs/explanation/code-map.md";
  const ROW = /^\| (.+?) \| `([\w./-]+)` \| (`\w+`(?:, `\w+`)*) \|$/gm;
  const rows = [...read(page).matchAll(ROW)].flatMap(([, what = "", file = "", symbols = ""]) =>
    symbols.split(", ").map((symbol) => ({ what, file, symbol: symbol.slice(1, -1) })),
  );
  const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !/\.(?:test|suite)\.ts$/.test(name),
  );
  const declares = (file: string, symbol: string) =>
    existsSync(join(SRC, file)) &&
    new RegExp(`^(?:export )?(?:async )?(?:function|class|const|interface|type) ${symbol}\\b`, "m").test(
      readFileSync(join(SRC, file), "utf8"),
    );

  it("names at least forty behaviours, each by a symbol that is declared in the file", () => {
    const moved = rows.flatMap(({ what, file, symbol }) => {
      if (declares(file, symbol)) return [];
      const now = sources.filter((name) => declares(name, symbol));
      if (now.length === 1 && process.env["UPDATE_CODE_MAP"]) {
        writeFileSync(
          join(ROOT, page),
          read(page).replace(`\`${file}\` | \`${symbol}\``, `\`${now[0]}\` | \`${symbol}\``),
        );
        return [];
      }
      return [
        `${what}: ${symbol} is not in ${file}; ${now.length > 0 ? `it is in ${now.join(" and ")} now` : "nothing is called that any more"}`,
      ];
    });
    expect(moved).toEqual([]);
    expect(rows.length).toBeGreaterThanOrEqual(40);
  });
});

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");
}

/** Anchors as GitHub generates them. */
function anchorsOf(text: string): string[] {
  return [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-"),
  );
}

/** What follows `haversack` in code: whole lines of shell blocks, and inline code. */
function commandLines(text: string): string[] {
  const blocks = [...text.matchAll(/^```(sh|console)\n([\s\S]*?)^```/gm)].flatMap(([, kind, block = ""]) =>
    block
      .split("\n")
      .filter((line) => kind === "sh" || line.startsWith("$ "))
      .flatMap((line) => /(?:^|\s)haversack ([a-z].*)$/.exec(line.replace(/\s+#.*$/, ""))?.[1] ?? []),
  );
  const inline = [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/`haversack ([^`\n]+)`/g)].map(
    ([, line = ""]) => line,
  );
  return [...blocks, ...inline].flatMap((line) => line.split(/ && haversack /));
}
