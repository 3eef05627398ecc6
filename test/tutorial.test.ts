/**
 * Runs the tutorial like a reader: saves its files, runs its commands in a scratch home, and compares the output. IDs, times and paths are
 * normalized on both sides; a line `…` matches any lines. `UPDATE_TUTORIAL=1` writes the output into the page.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { DIST, scratchProject } from "./bins.ts";

const PAGE = join(import.meta.dirname, "../docs/tutorial.md");
const BLOCK = /^```(console|\w+ title=(\S+))\n([\s\S]*?)^```$/gm;
const ID = /\b[ESTHM]\d{4,}\b/g;

it("the tutorial's commands print what the page shows", () => {
  const reader = newReader();
  const text = readFileSync(PAGE, "utf8");
  const run = text.replace(BLOCK, (block: string, kind: string, file: string | undefined, content: string) => {
    if (kind !== "console") {
      reader.save(file ?? "", content);
      return block;
    }
    return `\`\`\`console\n${sessions(content)
      .map(({ command, shown }) => `$ ${command}\n${reader.type(command, shown)}`)
      .join("")}\`\`\``;
  });
  if (process.env["UPDATE_TUTORIAL"]) writeFileSync(PAGE, run);
  else expect(run).toBe(text);
}, 120_000);

/** Each command with the output that the page shows after it. */
function sessions(content: string): { command: string; shown: string }[] {
  return content
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { command: part.slice(0, end), shown: part.slice(end + 1) };
    });
}

function newReader() {
  const { home } = scratchProject();
  const bin = join(dirname(home), "bin");
  mkdirSync(bin);
  writeFileSync(
    join(bin, "haversack"),
    `#!/bin/sh\nexec '${process.execPath}' '${join(DIST, "haversack.cjs")}' "$@"\n`,
  );
  chmodSync(join(bin, "haversack"), 0o755);
  let cwd = home;
  /** The page's IDs, mapped to the IDs of this run. */
  const here = new Map<string, string>();
  const onPage = (text: string) => {
    for (const [shown, real] of here) text = text.replaceAll(real, shown);
    return text;
  };
  return {
    save(file: string, content: string) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true });
      writeFileSync(join(cwd, file), content);
    },
    type(command: string, shown: string): string {
      const typed = command.replace(ID, (id) => here.get(id) ?? id);
      const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", typed], {
        cwd,
        encoding: "utf8",
        env: { PATH: `${bin}:/usr/bin:/bin`, HOME: home },
      });
      expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: "" });
      const move = /^cd (\S+)$/.exec(command)?.[1];
      if (move) cwd = join(cwd, move);
      const printed = stdout
        .replaceAll(home, "/home/you")
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-11-18T10:30:00.000Z");
      // A new ID gets the page's next ID, in order.
      const known = new Set(here.values());
      const fresh = [...new Set(printed.match(ID))].filter((id) => !known.has(id));
      const free = [...new Set(shown.match(ID))].filter((id) => !here.has(id));
      for (const real of fresh) {
        const name = free.find((id) => id[0] === real[0]) ?? real;
        free.splice(free.indexOf(name), 1);
        here.set(name, real);
      }
      return fits(onPage(printed), shown) ? shown : onPage(printed);
    },
  };
}

function fits(printed: string, shown: string): boolean {
  const parts = shown.split(/^…\n/m);
  let from = 0;
  return (
    parts.every((part, at) => {
      const found = at === 0 ? (printed.startsWith(part) ? 0 : -1) : printed.indexOf(part, from);
      from = found + part.length;
      return found >= 0;
    }) && from === printed.length
  );
}
