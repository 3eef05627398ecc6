import { existsSync } from "node:fs";
import { forgetCheckout, notesOnOthers } from "../../engine/checkouts.ts";
import { deferredProjects, noteDeferredProject } from "../../engine/defer-skills.ts";
import { distrust } from "../../engine/open-project.ts";
import { projectPaths } from "../../engine/project.ts";
import { applyUninstall, forgetPaused, ignoredInReceipt, planUninstall } from "../../engine/uninstall.ts";
import { checkoutOf } from "../../engine/wired-place.ts";
import { readReceipt } from "../../engine/wiring-receipt.ts";
import { defineCommand, say } from "../command.ts";
import { scopeOf } from "../project.ts";
import {
  chosenClients,
  describeCheckout,
  moreLines,
  planData,
  receiptFolder,
  showNotes,
  showPlan,
  unconfirmed,
  WIRING_OPTIONS,
  wiringPlace,
} from "../wiring.ts";

const { client, project, user, diff, "dry-run": dryRun, yes } = WIRING_OPTIONS;

export const command = defineCommand({
  about:
    "Removes what `haversack init` and `haversack skill defer` put into the clients' settings, and nothing else. What Haversack stored in .haversack/ stays. In a git worktree it removes what that worktree has; other checkouts stay connected.",
  options: {
    client: { ...client, about: "This client alone (default: all)." },
    project: { ...project, about: "What `init` wrote for this project (default)." },
    user: { ...user, about: "What `init --user` wrote." },
    diff,
    "dry-run": { ...dryRun, about: "Show what would be removed, write nothing." },
    yes,
  },
  examples: {
    "haversack uninstall": "this project, after a question",
    "haversack uninstall --user --dry-run": "only show what would go",
  },
  json: "{scope, changes: [{clients, path, about, kind, lines}], written, state, stays: [text]}: kind is change or remove; state is the folder that stays; stays names files that a person has changed, what other worktrees still need, and what was ignored in wiring.json.",
  async run(call) {
    const paths = projectPaths(call.io.cwd, call.io.env);
    const scope = scopeOf(call);
    // The receipt says what to remove, and somebody else's could name anything. We know without it what `init` would write.
    const untrusted = scope === "project" ? distrust(paths) : undefined;
    const folder = untrusted ? undefined : receiptFolder(scope, paths);
    const { clients, others } = chosenClients(call);
    const place = wiringPlace(call, { hasGuards: false });
    const planned = planUninstall(clients, place, folder, others);
    const stays = [
      ...clients.flatMap((one) => one.leftovers?.(place) ?? []),
      ...(folder === undefined ? [] : ignoredInReceipt([...clients, ...others], place, folder)),
      ...(folder === undefined ? [] : notesOnOthers(clients, place, readReceipt(folder))),
    ];
    const checkout = checkoutOf(call.io.cwd);
    if (untrusted)
      stays.push(
        `${untrusted.why}; so nothing is read from it, and deferred skills stay as they are (${untrusted.hint})`,
      );
    if (scope === "user") {
      // Their settings belong to the project, and only there is it known whether something else loads the skills.
      const hidden = deferredProjects(paths).map((project) => `${project} has deferred skills`);
      stays.push(...hidden.map((text) => `${text}: \`haversack doctor\` there says whether anything still loads them`));
    }
    const state = existsSync(paths.state) ? paths.state : undefined;
    const report = (written: boolean) => ({ scope, changes: planData(planned), written, state: state ?? null, stays });
    if (!call.json) showNotes(call.io, stays);

    const forgetDeferred = () => {
      if (folder === undefined) return;
      forgetPaused(clients, place, folder);
      if (others.length === 0) forgetCheckout(folder, call.io.cwd);
      noteDeferredProject(paths);
    };

    if (planned.length === 0) {
      if (scope === "project" && !call.options["dry-run"]) forgetDeferred();
      const here = checkout.here === checkout.main ? "project" : "worktree";
      const where =
        scope === "user"
          ? "your own settings. For this project: `haversack uninstall`"
          : `the settings of this ${here}. For your own settings: \`haversack uninstall --user\``;
      return { data: report(false), text: `Nothing of Haversack in ${where}` };
    }
    if (!call.json) {
      say(call.io, `To be removed from ${scope === "user" ? "all your projects" : describeCheckout(checkout)}:`);
      showPlan(call, planned, checkout.here);
    }
    if (call.options["dry-run"]) {
      return { data: report(false), text: `Nothing was written (--dry-run)${moreLines(call)}.` };
    }
    const ask = { question: "Remove this?", hint: "--yes removes what is shown", report: report(false) };
    const stopped = await unconfirmed(call, planned, ask);
    if (stopped) return stopped;
    applyUninstall(planned, folder);
    if (scope === "project") forgetDeferred();
    const stored = state ? `\nWhat was stored stays in ${state}; it is yours to keep or delete.` : "";
    const done = "Done. Sessions that are running keep their hooks until they end.";
    return { data: report(true), text: `${done}${stored}` };
  },
});
