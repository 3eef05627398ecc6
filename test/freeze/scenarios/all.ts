/** All scenarios of a client. */
import type { Client } from "../recorded.ts";
import type { Scenario } from "../scenario.ts";
import { badInput } from "./bad-input.ts";
import { badStores } from "./bad-stores.ts";
import { recordedOrder } from "./recorded-events.ts";
import { bare, inShell, TASK, withRules } from "./seeds.ts";
import { skills } from "./skills.ts";
import { type Voice, voiceOf } from "./voices.ts";
import { work } from "./work.ts";

export function scenariosOf(client: Client): Scenario[] {
  const voice = voiceOf(client);
  return [...everyRecorded(voice), ...skills(voice), ...work(voice), ...badStores(voice), ...badInput(voice)];
}

function everyRecorded(voice: Voice): Scenario[] {
  const steps = recordedOrder(voice.client).map((recorded) => ({ recorded }));
  return [
    {
      name: "recorded-nothing-fits",
      about: "every recorded event, in a project with a store and nothing in it",
      seed: (project) => bare(voice, project),
      steps,
    },
    {
      name: "recorded-task-in-hand",
      about: "every recorded event, in a project with skills and rules and a task that the session holds",
      async seed(project) {
        await withRules(voice, project);
        await project.cli(["task", "create", "Use the tools", "--description", "All of them.", "--files", "new.txt"]);
        await project.cli(["agent", "add", "june", "--role", "implementer"]);
      },
      steps: [...steps.slice(0, 2), inShell(voice, ["claim", TASK]), ...steps.slice(2)],
    },
  ];
}
