import { existsSync } from "node:fs";
import { HaversackError } from "../../base/errors.ts";
import { freshenIndex } from "../../engine/fresh-index.ts";
import { loadConfig, projectPaths } from "../../engine/project.ts";
import { openProjectStore } from "../../engine/project-store.ts";
import { acceptBrought, type BroughtAlong, broughtAlong, needsTrust, whyRefused } from "../../engine/trust-project.ts";
import { ask } from "../ask.ts";
import { broughtData, formatBrought, formatUnread } from "../brought-along.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";

export const spec: CommandSpec = {
  about:
    "Shows what this repository brings that Haversack does not use until you accept it, and asks: a store in .haversack/ that is new to your account, settings that reach outside of the project or load text unasked, templates, and rules that load a skill's text unasked. Run it after you cloned, moved or copied a project whose store you want to keep using.",
  options: { yes: { type: "boolean", about: "Accept what is there without a question." } },
  examples: [
    { run: "haversack trust", says: "look, then decide" },
    { run: "haversack trust --yes", says: "accept it, for a script or a container" },
  ],
  json: "{accepted, untrusted, parts: [{path, about, bytes, tracked, link?}], settings: [{key, value, why, accepted}], templates: [{path, role, chars, accepted}], rules: [{path, skill, why, accepted}], unread: [{path, why}]}: untrusted says why the store is not used, or null; unread has files that are links or too large.",
};

export async function run(call: Call): Promise<ExitCode> {
  const { io } = call;
  const paths = projectPaths(io.cwd, io.env);
  if (!existsSync(paths.state)) {
    throw new HaversackError("not-found", `there is no ${paths.state}, so there is nothing to trust`, {
      hint: "`haversack init` sets Haversack up here",
    });
  }
  const brought = broughtAlong(paths, io.env);
  const report = (accepted: boolean) => ({ accepted, ...broughtData(brought) });
  if (!needsTrust(brought)) {
    print(call, report(true), () =>
      [
        `Nothing to accept: everything in ${paths.state} is yours.`,
        ...(brought.unread.length > 0 ? [formatUnread(brought)] : []),
      ].join("\n"),
    );
    return 0;
  }
  if (!call.json) io.out(`${paths.root}\n${formatBrought(brought)}\n`);
  const refused = whyRefused(brought);
  if (refused) throw refused;
  const answer = call.options["yes"] ? "y" : call.json ? undefined : await ask(io, "Use all of this? [y/N] ");
  if (!/^y(?:es)?$/i.test(answer ?? "")) {
    print(call, report(false), () => "");
    io.err(
      answer === undefined
        ? "haversack: nothing was accepted: there is no terminal to ask in; --yes accepts what is shown\n"
        : "haversack: nothing was accepted\n",
    );
    const way = ownWay(brought);
    if (way && !call.json) io.err(`haversack: note: ${way}\n`);
    return 1;
  }
  acceptBrought(paths, brought, new Date());
  // Hooks read rules from the index alone.
  if (brought.rules.some(({ isAccepted }) => !isAccepted) && existsSync(paths.store)) {
    const handle = openProjectStore(paths, { durability: "normal" });
    const folders = loadConfig(paths).config["skills.folders"];
    freshenIndex(handle, { root: paths.root, env: io.env, folders }, { isThorough: true });
    handle.db.close();
  }
  print(call, report(true), () => "Accepted. It is used from now on, in all work trees of this repository.");
  return 0;
}

/** For who does not want the store that is there. */
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
