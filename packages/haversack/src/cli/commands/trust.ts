import { existsSync } from "node:fs";
import { HaversackError } from "../../base/errors.ts";
import { distrust, findProject, openProject } from "../../engine/open-project.ts";
import { loadConfig, type ProjectPaths, projectPaths } from "../../engine/project.ts";
import { freshenIndex } from "../../engine/refresh-index.ts";
import {
  acceptBrought,
  type BroughtAlong,
  broughtAlong,
  lookIntoStore,
  partsToTrust,
  TRUST_PARTS,
  type TrustPart,
  whyRefused,
} from "../../engine/trust-project.ts";
import { whyNotWritable } from "../../store/sqlite/connect.ts";
import { broughtData, formatBrought, formatUnread } from "../brought-along.ts";
import { type Call, defineCommand, flag, option, print, say, sayError, sayNote } from "../command.ts";
import { ask } from "../terminal.ts";

export const command = defineCommand({
  about:
    "Shows the parts of this repository that Haversack uses only after you accept them, and asks for each: a store in .haversack/ that you did not make, settings that reach outside the project or load text unasked, templates, and rules that load a skill's text unasked. Run it after you clone, move or copy a project whose store you want to keep using.",
  options: {
    yes: flag("Accept everything without asking."),
    only: option("PART", `Accept only this part: ${TRUST_PARTS.join(", ")}; separate several by commas.`),
  },
  examples: {
    "haversack trust": "look, then decide on each part",
    "haversack trust --yes": "accept it, for a script or a container",
    "haversack trust --only settings,rules --yes": "these two, and nothing else",
  },
  json: "{accepted, untrusted, parts: [{path, about, bytes, tracked, link?}], store: {rows, tasks: [title], messages: [{sender, text}]}, settings: [{key, value, why, accepted}], templates: [{path, role, chars, accepted, changed}], rules: [{path, skill, why, triggers, loads, accepted, changed}], unread: [{path, why}]}: untrusted says why the store is not used, or null; store has the newest tasks and messages of a database that is not used, else null; unread has files that are links or too large; accepted is true when nothing of it, or of --only, is left to accept.",
  async run(call) {
    const { io } = call;
    const wanted = partsOf(call.options.only);
    const paths = projectPaths(io.cwd, io.env);
    if (!existsSync(paths.state)) {
      throw new HaversackError("not-found", `there is no ${paths.state}, so there is nothing to trust`, {
        hint: "`haversack init` sets Haversack up here",
      });
    }
    const brought = broughtAlong(paths, io.env);
    const all = partsToTrust(brought);
    const open = all.filter((part) => wanted.includes(part));
    const refused = whyRefused(brought, open);
    // Needed only for the decision: a store that cannot be accepted is not read.
    const look = refused ? undefined : lookIntoStore(paths);
    if (open.length === 0) {
      const none =
        all.length === 0
          ? `: everything in ${paths.state} is yours.`
          : ` in ${wanted.join(", ")}. \`haversack trust\` shows what else is there.`;
      const unread = brought.unread.length > 0 ? `\n${formatUnread(brought)}` : "";
      return { data: { accepted: true, ...broughtData(brought, { look }) }, text: `Nothing to accept${none}${unread}` };
    }
    if (!call.json) say(io, `${paths.root}\n${formatBrought(brought, { look })}`);
    if (refused) throw refused;
    const { chosen, isAsked } = await choose(call, open);
    const way = open.includes("store") && !chosen.includes("store") && !call.json ? ownWay(brought) : undefined;
    if (chosen.length === 0) {
      await print(call, { data: { accepted: false, ...broughtData(brought, { look }) }, text: "" });
      if (isAsked) sayError(io, "nothing was accepted");
      else sayError(io, "nothing was accepted: there is no terminal to ask in", "--yes accepts what is shown");
      if (way) sayNote(io, way);
      return 1;
    }
    acceptBrought(paths, brought, { at: new Date(), only: chosen });
    const isUsable = bringIndexUpToDate(paths, io.env);
    const isAll = open.every((part) => chosen.includes(part));
    const what = all.length === chosen.length ? "Accepted." : `Accepted: ${chosen.join(", ")}.`;
    const when = isUsable
      ? "from now on, in all work trees of this repository"
      : "as soon as the local state is accepted too";
    return {
      data: { accepted: isAll, ...broughtData(broughtAlong(paths, io.env), { look }) },
      text: `${what} It is used ${when}.`,
      notes: way ? [way] : [],
    };
  },
});

const QUESTIONS: Readonly<Record<TrustPart, string>> = {
  store: "Use the local state?",
  settings: "Use the settings?",
  templates: "Use the templates?",
  rules: "Use the rules?",
};

/** What to do if the user does not want the existing store. */
function ownWay({ untrusted, parts }: BroughtAlong): string | undefined {
  if (!untrusted) return undefined;
  if (untrusted.because === "other-log") return untrusted.hint;
  const names = parts.map(({ path }) => path.slice(path.indexOf("/") + 1));
  const others = ["wiring.json", "spool"].filter((name) => names.includes(name)).map((name) => `.haversack/${name}`);
  const store = names.some((name) => name.startsWith("haversack.db")) ? [".haversack/haversack.db*"] : [];
  const own = `To start with a store of your own, move ${[...store, ...others].join(" and ")} away.`;
  const back = "To take your work back from a backup, run `haversack store restore FILE`.";
  return untrusted.because === "other-file" ? `${back} ${own}` : own;
}

function partsOf(only: string | undefined): TrustPart[] {
  if (only === undefined) return [...TRUST_PARTS];
  const names = only.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !(TRUST_PARTS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new HaversackError("usage", `--only must be one or more of ${TRUST_PARTS.join(", ")}, but has "${unknown}"`);
  return TRUST_PARTS.filter((part) => names.includes(part));
}

/** `isAsked`: the user was asked. */
async function choose(
  call: Call,
  open: readonly TrustPart[],
): Promise<{ chosen: readonly TrustPart[]; isAsked: boolean }> {
  if (call.options["yes"]) return { chosen: open, isAsked: true };
  const chosen: TrustPart[] = [];
  for (const part of open) {
    const answer = call.json ? undefined : await ask(call.io, `${QUESTIONS[part]} [y/N] `);
    if (answer === undefined) return { chosen: [], isAsked: false };
    if (/^y(?:es)?$/i.test(answer)) chosen.push(part);
  }
  return { chosen, isAsked: true };
}

/** Hooks read rules and skills only from the index, and a clone has none yet. False if the store is not accepted. */
function bringIndexUpToDate(paths: ProjectPaths, env: Call["io"]["env"]): boolean {
  if (distrust(paths)) return false;
  // A read-only store keeps its index.
  if (existsSync(paths.store) && whyNotWritable(paths.store)) return true;
  const { handle, close } = openProject(findProject({ cwd: paths.root, env }), { access: "save" });
  const folders = loadConfig(paths).config["skills.folders"];
  freshenIndex(handle, { root: paths.root, env, folders }, { isThorough: true });
  close();
  return true;
}
