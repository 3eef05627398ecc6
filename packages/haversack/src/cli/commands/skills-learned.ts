import { learnedShift } from "../../skills/matching/match-skills.ts";
import { forgetLearned, readLearned } from "../../store/sqlite/skills/skill-usage.ts";
import { type Call, type CommandSpec, type ExitCode, flag, print } from "../command.ts";
import { openProject } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "Shows what was learned from use in this project: in how many windows each skill was shown and used, shown and ignored, or searched for and used. With the setting skills.learn, skills that are used move up a little and ignored ones down; without it, this has no effect.",
  options: { reset: flag("Forget what was learned. The statistics of `skill stats` stay.") },
  examples: [
    { run: "haversack skill learned", says: "per skill" },
    { run: "haversack skill learned --json", says: "export it" },
    { run: "haversack skill learned --reset", says: "start again" },
  ],
  json: "{is_on, since, skills: [{id, used, ignored, searched, shift}]}: since is the time of the last reset or null; shift is in log odds, from -0.7 to 0.7.",
};

export function run(call: Call): ExitCode {
  const isReset = call.options["reset"] === true;
  const { handle, config } = openProject(call, { access: isReset ? "save" : "look" });
  if (isReset) forgetLearned(handle, new Date());
  const isOn = config["skills.learn"];
  const { since, skills: used } = readLearned(handle);
  const skills = used.map((use) => ({ ...use, shift: learnedShift({ loaded: 0, ...use }) }));
  print(call, { isOn, since, skills }, () => {
    const state = isOn
      ? "Learning is on."
      : "Learning is off; `haversack config set skills.learn true` switches it on.";
    if (isReset) return `Forgotten. ${state}`;
    if (skills.length === 0) return `Nothing was learned here yet. ${state}`;
    const width = Math.min(40, Math.max(5, ...skills.map(({ id }) => id.length)));
    const cell = (value: number | string, size: number) => String(value).padStart(size);
    const lines = skills.map(
      ({ id, used, ignored, searched, shift }) =>
        `${id.padEnd(width)}  ${cell(used, 4)}  ${cell(ignored, 7)}  ${cell(searched, 8)}  ${cell(shift.toFixed(2), 5)}`,
    );
    return [`${"skill".padEnd(width)}  used  ignored  searched  shift`, ...lines, "", state].join("\n");
  });
  return 0;
}
