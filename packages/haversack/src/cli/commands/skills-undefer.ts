import { basename } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { undeferSkills } from "../../engine/defer-skills.ts";
import { noteDeferredProject } from "../../engine/deferred-projects.ts";
import { readReceipt } from "../../engine/wiring-receipt.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import {
  CLIENT_OPTION,
  type ClientReport,
  type DeferOptions,
  type Deferring,
  deferData,
  deferringClients,
  everyDeferral,
  formatDefer,
} from "../defer.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about: "Puts skills back into the clients' own listings. Takes out only what `haversack skills defer` wrote.",
  arguments: [{ name: "NAME", about: "skills to list again", many: true }],
  options: {
    all: { type: "boolean", about: "Every skill that was deferred." },
    client: { ...CLIENT_OPTION, about: "This client alone (default: all where something was deferred)." },
    "dry-run": { type: "boolean", about: "Show what would be written, write nothing." },
  },
  examples: [{ run: "haversack skills undefer --all", says: "the listing as it was" }],
  json: "{clients: [{client, file, skills: [name], skipped: [{name, why}], changed}]}.",
};

export function run(call: Call): ExitCode {
  const { all = false, "dry-run": isDryRun = false } = call.options as DeferOptions;
  if (all === call.arguments.length > 0) throw new HaversackError("usage", "name skills, or give --all");
  const { paths, index } = openSkills(call);
  const reports = deferredClients(call, paths.state).map(({ client, deferral }): ClientReport => {
    // The client knows a skill by its own key; a person may know it by its name.
    const keys = call.arguments.map((name) => {
      const card = index.card(name);
      const own = card && deferral.keyOf(card);
      if (own && "key" in own) return own.key;
      return card?.folder ? basename(card.folder) : name;
    });
    return {
      client,
      ...undeferSkills(all ? undefined : keys, deferral, { folder: paths.state, cwd: call.io.cwd, isDryRun }),
    };
  });
  if (!isDryRun) noteDeferredProject(paths);
  print(call, { clients: deferData(reports, isDryRun) }, () =>
    formatDefer(reports, { headline: (count, file) => `${count} back in the listing (${file}).`, isDryRun }),
  );
  return 0;
}

/** Where something of ours is hidden; nowhere: those that could have it, so that each says so. */
function deferredClients(call: Call, state: string): Deferring[] {
  const { entries, paused } = readReceipt(state).deferred;
  const all = call.options["client"] ? deferringClients(call) : everyDeferral(call);
  const having = all.filter(({ deferral }) => entries[deferral.path] ?? paused[deferral.path]);
  return having.length > 0 ? having : deferringClients(call);
}
