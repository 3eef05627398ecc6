/**
 * Lines in the repository's own list of ignored files, which is not committed either: they keep what `init` writes out of commits.
 * All clients share that list, so each takes out only its own.
 */
import { join } from "node:path";
import type { WiredFile } from "../engine/wiring.ts";
import { excludeFile, gitViews } from "./git-view.ts";

/** `lines`: each with a file that it is for. Only those are added that nothing else covers. */
export function excludeLines(root: string, lines: Readonly<Record<string, string>>): WiredFile[] {
  const path = excludeFile(root);
  if (path === undefined) return [];
  return [
    {
      path,
      about: "keeps these files out of commits",
      blank: "",
      isRecordedOnly: true,
      wire(text) {
        const known = text.split(/\r?\n/);
        const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
        const missing = Object.entries(lines).filter(([line]) => !known.includes(line));
        const views = gitViews(
          root,
          missing.map(([, file]) => join(root, file)),
        );
        const added = missing.flatMap(([line], at) => (views[at] === "open" ? [line] : []));
        if (added.length === 0) return { text, keep: [] };
        const gap = text === "" || text.endsWith("\n") ? "" : lineBreak;
        return {
          text: `${text}${gap}${added.map((line) => line + lineBreak).join("")}`,
          keep: [...added.map((line) => `${ADDED}${line}`), ...(gap ? [NO_BREAK] : [])],
        };
      },
      unwire(text, keep) {
        const ofAll = keep.flatMap((note) => (note.startsWith(ADDED) ? [note.slice(ADDED.length)] : []));
        const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
        const rows = text.split(lineBreak);
        const isAtEnd = ofAll.includes(rows.at(-2) ?? "") && rows.at(-1) === "";
        for (const line of ofAll.filter((one) => one in lines)) {
          const at = rows.lastIndexOf(line);
          if (at >= 0) rows.splice(at, 1);
        }
        const rest = rows.join(lineBreak);
        // Without a last line break the file is given back without one, by whoever is the last to go.
        const isLast = !ofAll.some((line) => rows.includes(line));
        return keep.includes(NO_BREAK) && isAtEnd && isLast ? rest.replace(/\r?\n$/, "") : rest;
      },
    },
  ];
}

/** Which of the lines are ours: a person may have had one of them before. */
const ADDED = "added ";
const NO_BREAK = "no-line-break-at-the-end";
