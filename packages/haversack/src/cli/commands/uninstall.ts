import { existsSync } from "node:fs";
import { deferredProjects, noteDeferredProject } from "../../engine/deferred-projects.ts";
import { distrust } from "../../engine/open-project.ts";
import { projectPaths } from "../../engine/project.ts";
import { applyUninstall, forgetPaused, ignoredInReceipt, planUninstall } from "../../engine/uninstall.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { shortPath } from "../print-plan.ts";
import {
  chosenClients,
  mayWrite,
  moreLines,
  planData,
  receiptFolder,
  scopeOf,
  showNotes,
  showPlan,
  WIRING_OPTIONS,
  wiringPlace,
} from "../wiring.ts";

const { client, project, user, diff, "dry-run": dryRun, yes } = WIRING_OPTIONS;

export const spec: CommandSpec = {
  about:
    "Takes out what `haversack init` and `haversack skills defer` put into the clients' settings, and nothing else. What Haversack stored in .haversack/ stays.",
  options: {
    client: { ...client!, about: "This client alone (default: all)." },
    project: { ...project!, about: "What `init` wrote for this project (default)." },
    user: { ...user!, about: "What `init --user` wrote." },
    diff: diff!,
    "dry-run": { ...dryRun!, about: "Show what would go, write nothing." },
    yes: yes!,
  },
  examples: [
    { run: "haversack uninstall", says: "this project, after a question" },
    { run: "haversack uninstall --user --dry-run", says: "only show what would go" },
  ],
  json: "{scope, changes: [{clients, path, about, kind, lines}], written, state, stays: [text]}: kind is change or remove; state is the folder that stays; stays names files that a person has changed, and what was ignored in wiring.json.",
};

export async function run(call: Call): Promise<ExitCode> {
  const paths = projectPaths(call.io.cwd, call.io.env);
  const scope = scopeOf(call);
  // The receipt says what is to be removed: a foreign one could name anything. What `init` would write is known without it.
  const untrusted = scope === "project" ? distrust(paths) : undefined;
  const folder = untrusted ? undefined : receiptFolder(scope, paths);
  const { clients, others } = chosenClients(call);
  const place = wiringPlace(call, false);
  const planned = planUninstall(clients, place, folder, others);
  const stays = [
    ...clients.flatMap((one) => one.leftovers?.(place) ?? []),
    ...(folder === undefined ? [] : ignoredInReceipt([...clients, ...others], place, folder)),
  ];
  if (untrusted)
    stays.push(
      `${untrusted.why}; so nothing is read from it, and deferred skills stay as they are (${untrusted.hint})`,
    );
  if (scope === "user") {
    // Their settings are the project's: only there it is known whether something else brings the skills.
    const hidden = deferredProjects(paths).map((project) => `${project} has deferred skills`);
    stays.push(...hidden.map((text) => `${text}: \`haversack doctor\` there says whether anything still brings them`));
  }
  const state = existsSync(paths.state) ? paths.state : undefined;
  const report = (written: boolean) => ({ scope, changes: planData(planned), written, state: state ?? null, stays });
  if (!call.json) showNotes(call.io, stays);

  const forgetDeferred = () => {
    if (folder === undefined) return;
    forgetPaused(clients, place, folder);
    noteDeferredProject(paths);
  };

  if (planned.length === 0) {
    if (scope === "project" && !call.options["dry-run"]) forgetDeferred();
    print(call, report(false), () =>
      scope === "user"
        ? "Nothing of Haversack in your own settings. For this project: `haversack uninstall`"
        : "Nothing of Haversack in the settings of this project. For your own settings: `haversack uninstall --user`",
    );
    return 0;
  }
  if (!call.json) {
    call.io.out(`To be taken out for ${scope === "user" ? "all your projects" : shortPath(paths.root)}:\n`);
    showPlan(call, planned, paths.root);
  }
  if (call.options["dry-run"]) {
    print(call, report(false), () => `Nothing was written (--dry-run)${moreLines(call)}.`);
    return 0;
  }
  const answer = await mayWrite(call, "Take this out?", planned);
  if (answer !== "yes") {
    print(call, report(false), () => "");
    call.io.err(
      answer === "no"
        ? "haversack: nothing was written\n"
        : "haversack: nothing was written: there is no terminal to ask in; --yes takes out what is shown\n",
    );
    return 1;
  }
  applyUninstall(planned, folder);
  if (scope === "project") forgetDeferred();
  print(call, report(true), () =>
    [
      "Done. Sessions that are running keep their hooks until they end.",
      ...(state ? [`What was stored stays in ${state}; it is yours to keep or delete.`] : []),
    ].join("\n"),
  );
  return 0;
}
