import { HaversackError } from "../../base/errors.ts";
import { decayHandoffs } from "../../engine/work/handoffs.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { inputOf, withWork } from "../work.ts";
import { AGENT, EPIC, STORY } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Shrinks handoffs: of a complete story the details go to the archive, of a complete epic the handoffs as a whole. That happens by itself when one completes; this is for doing it by hand. Failed and blocked ones stay as they are. Nothing is lost: `haversack restore` brings any of it back.",
  options: {
    epic: EPIC,
    story: STORY,
    force: { type: "boolean", about: "Although the story or epic is not complete; needs --epic or --story." },
    "include-failed": { type: "boolean", about: "Failed and blocked ones too." },
    agent: AGENT,
  },
  examples: [
    { run: "haversack decay", says: "what complete stories and epics allow" },
    { run: "haversack decay --story S4829 --force", says: "this story, complete or not" },
  ],
  json: "{compacted, archived}: how many.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const input = inputOf<Parameters<typeof decayHandoffs>[0]>(call, {
      epicId: "epic",
      storyId: "story",
      isForced: "force",
      includeFailed: "include-failed",
    });
    if (input.isForced && input.epicId === undefined && input.storyId === undefined)
      throw new HaversackError("usage", "--force needs --epic or --story: it would shrink every handoff there is");
    const { compacted, archived } = await decayHandoffs(input, work);
    print(call, { compacted, archived }, () => {
      if (compacted + archived === 0) return "Nothing to shrink.";
      return `The details of ${handoffs(compacted)} and ${handoffs(archived)} as a whole went to the archive.`;
    });
    return 0;
  });
}

function handoffs(count: number): string {
  return `${count} ${count === 1 ? "handoff" : "handoffs"}`;
}
