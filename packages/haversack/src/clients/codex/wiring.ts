/** Codex as `init` and `uninstall` see it. */
import { join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { readText } from "../../engine/init.ts";
import type { Client, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import { gitView } from "../claude-code/detect.ts";
import { checkCodex } from "./check.ts";
import { mergeNotify, notifyOf, notifyProgram, unmergeNotify } from "./config-notify.ts";
import { mergeServer, unmergeServer } from "./config-server.ts";
import { codexPlaces, findCodex } from "./detect.ts";
import { mergeHooks, unmergeHooks } from "./hooks-file.ts";
import { readCodexPlugin } from "./plugin-wiring.ts";

export const codex: Client = {
  name: "codex",
  title: "Codex",
  find: ({ cwd, env }) => findCodex(cwd, env),
  files(place) {
    const { root, projectHooks, projectConfig, userHooks, userConfig } = codexPlaces(place.cwd, place.env);
    const isUser = place.scope === "user";
    return [
      hooksFile(isUser ? userHooks : projectHooks, place),
      serverFile(isUser ? userConfig : projectConfig, place),
      ...(isUser ? [] : [ignoreFile(root)]),
    ];
  },
  notes({ scope, cwd, env, installed: { node, hook } }) {
    const places = codexPlaces(cwd, env);
    const { root, projectHooks, userConfig } = places;
    const notes = [
      "Codex runs no hook before you have reviewed it, and says nothing: start `codex` here, open /hooks and trust those of Haversack (again after each change of them)",
    ];
    if (readCodexPlugin(places)) {
      notes.push("the haversack plugin of Codex is installed too: with both, every event runs two processes");
    }
    if (scope === "user" && notifyOf(readText(userConfig) ?? "").kind === "foreign") {
      notes.push(
        `notify in ${userConfig} is yours and stays; to have doctor see whether hooks run, let your program end with \`${node} ${notifyProgram(hook)} JSON\`, where JSON is its own last word`,
      );
    }
    if (scope === "project") {
      notes.push(`Codex reads ${join(root, ".codex")} only when you trust this folder: it asks when you start it here`);
      if (gitView(root, projectHooks).kind === "no-git") {
        notes.push(`git could not be asked whether it ignores ${join(root, ".codex")}: do not commit what names paths`);
      }
    }
    return notes;
  },
  check: checkCodex,
};

function hooksFile(path: string, { installed, hasGuards, scope, cwd, env }: WiringPlace): WiredFile {
  return {
    path,
    about: "hooks",
    blank: "{}\n",
    wire: (text) => {
      if (scope === "project") refuseTracked(path, codexPlaces(cwd, env).root);
      return mergeHooks(text, { node: installed.node, hook: installed.hook, file: path, hasGuards });
    },
    unwire: (text, keep) => unmergeHooks(text, { file: path, keep }),
  };
}

function serverFile(path: string, { installed: { node, hook, bin }, scope, cwd, env }: WiringPlace): WiredFile {
  const program = notifyProgram(hook);
  return {
    path,
    about: scope === "user" ? "the MCP server and notify" : "the MCP server",
    blank: "",
    // The client's own file has the person's settings, sometimes keys.
    isPrivate: scope === "user",
    wire: (text) => {
      if (scope === "project") refuseTracked(path, codexPlaces(cwd, env).root);
      const merged = mergeServer(text, { file: path, node, bin });
      return scope === "user" ? { ...merged, text: mergeNotify(merged.text, { node, program }) } : merged;
    },
    unwire: (text, keep) => unmergeServer(unmergeNotify(text), { keep }),
  };
}

const IGNORED = ["/.gitignore", "/hooks.json", "/config.toml"];

/** Both files name paths of this machine. A list of their own beside them, because all clients would share the repository's. */
function ignoreFile(root: string): WiredFile {
  const path = join(root, ".codex/.gitignore");
  const isOpen = (line: string) => gitView(root, join(root, ".codex", line)).kind === "open";
  return {
    path,
    about: "keeps these files out of commits",
    blank: "",
    isRecordedOnly: true,
    wire: (text) => {
      const known = text.split(/\r?\n/);
      const added = IGNORED.filter((line) => !known.includes(line) && isOpen(line));
      // A list of the person's own is committed as before.
      const lines = text === "" ? added : added.filter((line) => line !== "/.gitignore");
      if (lines.length === 0) return { text, keep: [] };
      const gap = text === "" || text.endsWith("\n") ? "" : "\n";
      const keep = [...lines.map((line) => `${ADDED}${line}`), ...(gap ? [NO_BREAK] : [])];
      return { text: `${text}${gap}${lines.map((line) => `${line}\n`).join("")}`, keep };
    },
    unwire: (text, keep) => {
      const added = keep.flatMap((note) => (note.startsWith(ADDED) ? [note.slice(ADDED.length)] : []));
      const lines = text.split("\n");
      const isAtEnd = added.includes(lines.at(-2) ?? "") && lines.at(-1) === "";
      for (const line of added) {
        const at = lines.lastIndexOf(line);
        if (at >= 0) lines.splice(at, 1);
      }
      const rest = lines.join("\n");
      return keep.includes(NO_BREAK) && isAtEnd ? rest.replace(/\n$/, "") : rest;
    },
  };
}

const ADDED = "added ";
const NO_BREAK = "no-line-break-at-the-end";

function refuseTracked(path: string, root: string): void {
  if (gitView(root, path).kind !== "tracked") return;
  throw new HaversackError(
    "input-invalid",
    `${path} is committed in this repository; paths of this machine do not belong in it`,
    {
      hint: "wire all projects with `haversack init --user`, or take it out of git (`git rm --cached` keeps the file)",
    },
  );
}
