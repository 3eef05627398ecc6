/** Lines in the repository's own list of ignored files, which is not committed either: they keep what `init` writes out of commits. */
import { join } from "node:path";
import type { WiredFile } from "../../engine/wiring.ts";
import { gitView } from "../claude-code/detect.ts";

/** `lines`: each with a file that it is for. Only those are added that nothing else covers. */
export function excludeLines(root: string, lines: Readonly<Record<string, string>>): WiredFile[] {
  const [first = ""] = Object.values(lines);
  const view = gitView(root, join(root, first));
  if (view.kind === "no-repository" || view.kind === "no-git") return [];
  const path = view.kind === "open" ? view.exclude : join(root, ".git/info/exclude");
  return [
    {
      path,
      about: "keeps these files out of commits",
      blank: "",
      isRecordedOnly: true,
      wire(text) {
        const known = text.split("\n");
        const added = Object.entries(lines)
          .filter(([line, file]) => !known.includes(line) && gitView(root, join(root, file)).kind === "open")
          .map(([line]) => line);
        if (added.length === 0) return { text, keep: [] };
        const gap = text === "" || text.endsWith("\n") ? "" : "\n";
        return {
          text: `${text}${gap}${added.map((line) => `${line}\n`).join("")}`,
          // Without a last line break the file is given back without one.
          keep: [...added.map((line) => `${ADDED}${line}`), ...(gap ? [NO_BREAK] : [])],
        };
      },
      unwire(text, keep) {
        const added = keep.flatMap((note) => (note.startsWith(ADDED) ? [note.slice(ADDED.length)] : []));
        const rows = text.split("\n");
        const isAtEnd = added.includes(rows.at(-2) ?? "") && rows.at(-1) === "";
        for (const line of added) {
          const at = rows.lastIndexOf(line);
          if (at >= 0) rows.splice(at, 1);
        }
        const rest = rows.join("\n");
        return keep.includes(NO_BREAK) && isAtEnd ? rest.replace(/\n$/, "") : rest;
      },
    },
  ];
}

/** Which of the lines are ours: a person may have had one of them before. */
const ADDED = "added ";
const NO_BREAK = "no-line-break-at-the-end";
